// The command that repeats the work: the given command line, without flags that only limit its
// duration or name its output, and with the drawn values.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace assay::internal::cli {

// A flag and its value, which is empty if the flag takes none.
using DrawnFlags = std::vector<std::pair<std::string, std::string>>;

// `drawn` replaces the given values of the same flags. Passwords are left out.
std::string repeating_command(const CLI::App& app, const DrawnFlags& drawn);

// Returns the command of the run that a history comes from, by the header's meta; empty if that
// does not mention a run.
std::string command_of_run(const std::string& meta);

}  // namespace assay::internal::cli
