#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wrap.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/keys.h"
#include "cli/suggestion.h"
#include "cli/wrapped_help.h"

namespace {

using namespace assay::internal::cli;

constexpr char kFooter[] =
    "Exit codes: 0 satisfied, 1 violated, 2 unknown, 3 bad input, 4 usage or I/O.\n"
    "'assay COMMAND --help' shows the first flags of a command with examples,\n"
    "--help-all all flags, 'assay --help-all' all commands.";

// Suggests a correction for the first flag that the command does not have, or by a database without
// its flag.
std::string flag_meant(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    std::vector<std::string> flags;
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    for (const std::string& extra : command->remaining())
      if (extra.starts_with("--")) return did_you_mean(extra.substr(0, extra.find('=')), flags);
    for (const std::string& extra : command->remaining())  // other tools take it without a flag
      if (extra.find(':') != std::string::npos && std::ranges::count(flags, "--database") > 0)
        return "; did you mean '--database " + extra + "'?";
  }
  return {};
}

void show_first_commands(CLI::App& app) {
  for (const Command& command : commands_beyond_first_screen())
    app.get_subcommand(std::string(command.name))->group("");
}

// --help shows the flags without a heading, and names the headings whose flags --help-all shows.
void show_first_flags(CLI::App& app) {
  constexpr std::string_view kNoHeading = "Options";  // the parser's name of it
  for (CLI::App* command : app.get_subcommands({})) {
    std::vector<std::string> headings;
    for (CLI::Option* option : command->get_options()) {
      const std::string flag = flag_of_key(*option);
      const std::string heading = flag.empty() ? option->get_group() : "keys of " + flag;
      if (heading == kNoHeading) continue;
      if (std::ranges::count(headings, heading) == 0) headings.push_back(heading);
      option->group("");
    }
    if (headings.empty()) continue;
    const std::string more = fmt::format("With --help-all: {}.", fmt::join(headings, "; "));
    command->footer(assay::internal::wrapped(more, columns_of_stdout()) + "\n\n" +
                    command->get_footer());
  }
}

// Returns the words with the keys of flags spelled out.
std::vector<std::string> words_of(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto command = std::ranges::find_if(words, is_command);
  if (command == words.end()) return words;
  const std::vector<std::string> rest(command + 1, words.end());
  words.erase(command + 1, words.end());
  for (std::string& word : spelled_out(*app.get_subcommand(words.back()), rest))
    words.push_back(std::move(word));
  return words;
}

bool asks_for_help(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--help" || word == "-h" || word == "help";
  });
}

// Returns a suggestion for a wrong key in a file of flags, such as "check.levle", or "chekc.++" for
// a section that is not a command.
std::string wrong_key(const CLI::App& app, const std::string& key) {
  const size_t dot = std::min(key.find('.'), key.size());
  const std::string command = key.substr(0, dot);
  std::vector<std::string> names;
  std::string meant;
  if (dot < key.size() && !is_command(command)) {
    for (const Command& known : all_commands()) names.emplace_back(known.name);
    return " has [" + command + "], which is not a command" + did_you_mean(command, names);
  }
  if (dot < key.size()) {
    for (const CLI::Option* option : app.get_subcommand(command)->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back(name);
    meant = did_you_mean(key.substr(dot + 1), names);
  }
  return " has '" + key + "', which is not a flag of a command" +
         (meant.empty() ? "; expected [check] and then level = [\"serializable\"]" : meant);
}

// Returns the error in the file of flags.
std::string config_error(const CLI::App& app, const CLI::ParseError& e) {
  constexpr std::string_view kExtra = "INI was not able to parse ";
  constexpr std::string_view kNotHere = ": This option is not allowed in a configuration file";
  std::string text = e.what();
  const CLI::Option* const given = app.get_config_ptr();
  const std::string file =
      given->count() > 0 ? given->as<std::string>() : std::string("the file of flags");
  if (text.ends_with(kNotHere)) {
    text.resize(text.size() - kNotHere.size());
    return file + " has '" + text + "', which is allowed only on the command line";
  }
  if (!text.starts_with(kExtra)) return text;
  return file + wrong_key(app, text.substr(kExtra.size()));
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& e) {
  if (dynamic_cast<const CLI::ConfigError*>(&e) != nullptr) return config_error(app, e);
  if (std::string_view(e.what()) == CLI::RequiredError::Subcommand(1).what())
    return "expected a command, such as 'run' or 'check FILE'";
  return e.what() + flag_meant(app);
}

int run(int argc, char** argv) {
  CLI::App app(
      "assay tells you which transaction isolation level a database really gave its clients, and "
      "proves it.",
      "assay");
  app.formatter(std::make_shared<WrappedHelp>());
  app.require_subcommand(1);
  app.set_version_flag("--version", "assay " ASSAY_VERSION);
  app.footer(kFooter);
  app.set_config(
         "--config", "",
         "values of flags, one section per command: [check] and then level = [\"serializable\"]; "
         "flags on the command line take precedence. No file is read by default")
      ->type_name("FILE");
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.config_formatter(config_with_keys(app));
  Action action;
  for (const Command& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->footer("Examples:\n" + std::string(command.examples));
    sub->final_callback([&action, chosen = command.add(*sub)] { action = chosen; });
  }
  if (argc > 1 && argv[1][0] != '-' && !is_command(argv[1])) {
    note(no_command(argv[1]));
    note("see 'assay --help'");
    return static_cast<int>(Exit::usage);
  }
  try {
    std::vector<std::string> words = words_of(app, argc, argv);
    const auto all = std::ranges::find(words, "--help-all");
    if (all != words.end()) {
      *all = "--help";
    } else if (asks_for_help(words)) {  // hidden flags have no names, so only then
      show_first_commands(app);
      show_first_flags(app);
    }
    std::ranges::reverse(words);
    app.parse(std::move(words));
    if (const CLI::Option* file = app.get_config_ptr(); file->count() > 0)
      note("flags from " + file->as<std::string>());
    return static_cast<int>(action());
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help
    note(usage_message(app, e));
    note("see 'assay --help' and 'assay COMMAND --help'");
    return static_cast<int>(Exit::usage);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // If the reader of our output closes it, the process ends quietly.
  signal(SIGPIPE, SIG_DFL);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    note("out of memory; use --memory to stop the check at a limit before that");
    return static_cast<int>(Exit::unknown);
  } catch (const std::exception& e) {
    note(std::string("internal error: ") + e.what());
    return static_cast<int>(Exit::usage);
  }
}
