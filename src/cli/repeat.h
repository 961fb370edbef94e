// The command that does the same again: what was given on the command line, except for what only
// says how long and where to, and what was drawn.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace assay::internal::cli {

// A flag and its value; empty if it takes none.
using DrawnFlags = std::vector<std::pair<std::string, std::string>>;

// `drawn` takes the place of what was given for the same flags. Passwords are left out.
std::string repeating_command(const CLI::App& app, const DrawnFlags& drawn);

// The command of the run that a history is of, from the header's meta; empty if it says nothing of
// a run.
std::string command_of_run(const std::string& meta);

}  // namespace assay::internal::cli
