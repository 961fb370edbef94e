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

// automatic: on a terminal that wants colours, that is NO_COLOR is not set and TERM is not "dumb".
enum class Colour : uint8_t { automatic, always, never };
bool colour_on_stdout(Colour when);
// Of the terminal, at least 40; 80 where standard output is none.
size_t columns_of_stdout();

// All of `text`, printable (base/printable.h): lines to read, or JSON. An error if it cannot be
// written (a full disk behind a redirection).
Status print(std::string_view text);
// A report in colours, in which what comes from a history is printable already.
Status print_painted(std::string_view text);
// "assay: …" on standard error, printable.
void note(std::string_view text);
// Prints the error and returns its exit code.
Exit fail(const Error& e);
// The exit code of what ended so: that of its error, which it prints, or else `exit`.
template <class T>
Exit ended(const Result<T>& how, Exit exit = Exit::satisfied) {
  return how.ok() ? exit : fail(how.error());
}
// Creates or replaces a file; "-" is standard output.
Status write_file(const std::string& path, std::string_view text);
// Whether a file can be written there. An existing one is left as it is.
Status can_write(const std::string& path);
// A usage error if one of the outputs is an input, by whatever name: it would replace its own
// source.
Status spare_inputs(std::span<const std::string> outputs, std::span<const std::string> inputs);
Result<std::string> read_file(const std::string& path, uint64_t limit);

}  // namespace assay::internal::cli
