#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/described.h"

namespace assay::internal::cli {
namespace {

using Commands = std::vector<DescribedCommand>;

// Within single quotes of a shell, on one line, without what zsh and fish give a meaning.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':')
      out += std::string("\\") + c;
    else
      out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string first_sentence(const std::string& help) { return help.substr(0, help.find(". ")); }

std::string bash(const Commands& commands) {
  std::string names, cases, values;
  for (const DescribedCommand& c : commands) {
    names += (names.empty() ? "" : " ") + c.name;
    std::string flags;
    for (const DescribedFlag& f : c.flags) {
      for (const std::string& name : f.names) flags += (flags.empty() ? "" : " ") + name;
      if (!f.values.empty())
        values += fmt::format("    '{}:{}') words='{}' ;;\n", c.name,
                              fmt::join(f.names, fmt::format("'|'{}:", c.name)),
                              fmt::join(f.values, " "));
    }
    cases += fmt::format("    {}) words='{}' ;;\n", c.name, flags);
  }
  return fmt::format(
      R"(# Completion of assay for bash: source it, or put it into /usr/share/bash-completion/completions/assay.
_assay() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$current"))
    return
  fi
  case "$command:$before" in
{}  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case "$command" in
{}  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _assay assay
)",
      names, values, cases);
}

std::string zsh(const Commands& commands) {
  std::string names, cases;
  for (const DescribedCommand& c : commands) {
    names += fmt::format("    '{}:{}'\n", c.name, quoted(c.summary));
    std::string specs;
    for (const DescribedFlag& f : c.flags) {
      const std::string argument =
          f.value.empty() ? ""
          : !f.values.empty()
              ? fmt::format(":{}:({})", quoted(f.value), fmt::join(f.values, " "))
              : fmt::format(":{}:{}", quoted(f.value), f.takes_file ? "_files" : "");
      for (const std::string& name : f.names)
        specs +=
            fmt::format(" \\\n        '*{}[{}]{}'", name, quoted(first_sentence(f.help)), argument);
    }
    cases +=
        fmt::format("    {})\n      _arguments{} \\\n        '*:file:_files' ;;\n", c.name, specs);
  }
  return fmt::format(R"(#compdef assay
# Completion of assay for zsh: put it as _assay into a folder of $fpath.
_assay() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_assay "$@"
)",
                     names, cases);
}

std::string fish(const Commands& commands) {
  std::string out =
      "# Completion of assay for fish: put it as assay.fish into a folder of "
      "$fish_complete_path.\n";
  for (const DescribedCommand& c : commands) {
    out += fmt::format("complete -c assay -n __fish_use_subcommand -f -a {} -d '{}'\n", c.name,
                       quoted(c.summary));
    for (const DescribedFlag& f : c.flags) {
      std::string names;
      for (const std::string& name : f.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      std::string values;
      if (!f.value.empty()) values = f.takes_file ? " -r" : " -x";
      if (!f.values.empty()) values += fmt::format(" -a '{}'", fmt::join(f.values, " "));
      out += fmt::format("complete -c assay -n '__fish_seen_subcommand_from {}'{}{} -d '{}'\n",
                         c.name, names, values, quoted(first_sentence(f.help)));
    }
  }
  return out;
}

}  // namespace

Action add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [shell, all = app.get_parent()] {
    Commands commands = describe(*all);
    for (DescribedCommand& c : commands)
      std::erase_if(c.flags, [](const DescribedFlag& f) { return f.speed_up; });
    const Status s = print(*shell == "bash"  ? bash(commands)
                           : *shell == "zsh" ? zsh(commands)
                                             : fish(commands));
    return s.ok() ? Exit::satisfied : fail(s.error());
  };
}

}  // namespace assay::internal::cli
