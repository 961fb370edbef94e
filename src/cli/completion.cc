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

// Returns the text for use within single quotes of a shell: on one line, without characters that
// have a meaning in zsh and fish.
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

// Returns the keys of a flag, "keys= tombstones".
std::string keys_of_flag(const DescribedCommand& command, const DescribedFlag& flag) {
  std::string keys;
  for (const DescribedFlag& f : command.flags)
    if (!flag.names.empty() && f.key_of == flag.names.front())
      keys += (keys.empty() ? "" : " ") + f.names.front() + (f.value.empty() ? "" : "=");
  return keys;
}

// Returns the values that a flag may have and, after its default value, the keys that it has.
std::vector<std::string> choices(const DescribedCommand& command, const DescribedFlag& flag) {
  std::vector<std::string> all = flag.values;
  if (all.empty()) return all;
  for (const DescribedFlag& f : command.flags)
    if (f.key_of == flag.names.front())
      all.push_back(flag.by_default + ":" + f.names.front() + (f.value.empty() ? "" : "="));
  return all;
}

std::string bash(const Commands& commands) {
  std::string names, cases, values, behind;
  for (const DescribedCommand& c : commands) {
    names += (names.empty() ? "" : " ") + c.name;
    std::string flags;
    for (const DescribedFlag& f : c.flags) {
      if (const std::string keys = keys_of_flag(c, f); !keys.empty())
        behind += fmt::format("    '{}:{}') words='{}' ;;\n", c.name, f.names.front(), keys);
      if (!f.key_of.empty()) continue;
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
  if [ "$before" = : ] || [ "$current" = : ]; then  # --workload NAME:KEY, three words to bash
    [ "$current" = : ] && current=
    case "$command:${{COMP_WORDS[COMP_CWORD-$([ "$before" = : ] && echo 3 || echo 2)]}}" in
{}    esac
  fi
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
      names, values, behind, cases);
}

std::string zsh(const Commands& commands) {
  std::string names, cases;
  for (const DescribedCommand& c : commands) {
    names += fmt::format("    '{}:{}'\n", c.name, quoted(c.summary));
    std::string specs;
    for (const DescribedFlag& f : c.flags) {
      if (!f.key_of.empty()) continue;
      const std::string argument =
          f.value.empty() ? ""
          : !f.values.empty()
              ? fmt::format(":{}:({})", quoted(f.value),
                            quoted(fmt::format("{}", fmt::join(choices(c, f), " "))))
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
      if (!f.key_of.empty()) continue;
      std::string names;
      for (const std::string& name : f.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      std::string values;
      if (!f.value.empty()) values = f.takes_file ? " -r" : " -x";
      if (!f.values.empty()) values += fmt::format(" -a '{}'", fmt::join(choices(c, f), " "));
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
    return ended(print(*shell == "bash"  ? bash(commands)
                       : *shell == "zsh" ? zsh(commands)
                                         : fish(commands)));
  };
}

}  // namespace assay::internal::cli
