// Standard output for results, standard error for everything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "assay/result.h"
#include "cli/exit_code.h"

namespace assay::internal::cli {

// automatic: colours on a terminal, unless NO_COLOR is set or TERM is "dumb".
enum class Colour : uint8_t { automatic, always, never };
bool colour_on_stdout(Colour when);
// The columns of the terminal, at least 40; 80 if standard output is not a terminal.
size_t columns_of_stdout();

// Prints all of `text` in printable form (base/printable.h): lines to read, or JSON. Fails if it
// cannot be written (for example on a full disk).
Status print(std::string_view text);
// Prints a report in colours, in which texts from a history are printable already.
Status print_painted(std::string_view text);
// Writes "assay: …" to standard error, in printable form.
void note(std::string_view text);
// Prints the error and returns its exit code.
Exit fail(const Error& e);
// Returns the exit code of a result: that of its error, which it prints, or else `exit`.
template <class T>
Exit ended(const Result<T>& how, Exit exit = Exit::satisfied) {
  return how.ok() ? exit : fail(how.error());
}
// Creates or replaces a file; "-" is standard output.
Status write_file(const std::string& path, std::string_view text);
// Checks that a file can be written there. An existing file is left as it is.
Status can_write(const std::string& path);
// A usage error if one of the outputs is an input, by whatever name: it would replace its own
// source.
Status spare_inputs(std::span<const std::string> outputs, std::span<const std::string> inputs);
Result<std::string> read_file(const std::string& path, uint64_t limit);

}  // namespace assay::internal::cli
