// The commands: each is one file and one line in command.cc.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace assay::internal::cli {

// The function that runs when the command line has been read.
using Action = std::function<Exit()>;

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view examples;
  // Adds the command's flags to its sub-application.
  Action (*add)(CLI::App& app);
};

// All commands, in the order of help.
std::span<const Command> all_commands();
// The commands that `assay --help` omits and --help-all shows: the last ones.
std::span<const Command> commands_beyond_first_screen();
bool is_command(std::string_view name);
// "unknown command 'chek'; did you mean 'check'?"
std::string no_command(std::string_view name);

Action add_run(CLI::App& app);
Action add_probe(CLI::App& app);
Action add_play(CLI::App& app);
Action add_record(CLI::App& app);
Action add_exec_test(CLI::App& app);
Action add_check(CLI::App& app);
Action add_watch(CLI::App& app);
Action add_recover(CLI::App& app);
Action add_verify(CLI::App& app);
Action add_explain(CLI::App& app);
Action add_generate(CLI::App& app);
Action add_convert(CLI::App& app);
Action add_sql(CLI::App& app);
Action add_residue(CLI::App& app);
Action add_stats(CLI::App& app);
Action add_tally(CLI::App& app);
Action add_predict(CLI::App& app);
Action add_shrink(CLI::App& app);
Action add_selftest(CLI::App& app);
Action add_demo(CLI::App& app);
Action add_levels(CLI::App& app);
Action add_doctor(CLI::App& app);
Action add_version(CLI::App& app);
Action add_help(CLI::App& app);
Action add_completion(CLI::App& app);
Action add_manual(CLI::App& app);

}  // namespace assay::internal::cli
