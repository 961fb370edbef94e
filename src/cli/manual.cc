#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "assay/level.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/described.h"

namespace assay::internal::cli {
namespace {

// Lines are filled, but neither stretched nor hyphenated: they often contain text to be typed.
constexpr char kBegin[] = R"(.TH ASSAY 1 "" "assay )" ASSAY_VERSION R"(" "User Commands"
.nh
.ad l
.SH NAME
assay \- find out which transaction isolation level a database really gave its clients
.SH SYNOPSIS
.B assay run
.RI [ FLAG " ...]"
.br
.B assay check
.IR FILE " ... [" FLAG " ...]"
.br
.B assay
.IR COMMAND " [" FLAG " ...] [" ARGUMENT " ...]"
.SH DESCRIPTION
.B assay run
drives a database with concurrent transactions and records what the clients saw: the history.
.B assay check
decides for every isolation level, from read committed to strict serializability, whether a history satisfies it. It explains each
violation in a few sentences, and gives a certificate for each verdict, which a small independent verifier has re-checked before the
verdict is printed.
.PP
Without
.B \-\-level
all levels are decided and the strongest that hold are named; with it the exit status is the verdict about the level that was asked for. A
verdict is
.IR satisfied ,
.I violated
or, where a limit was reached or the history does not say enough,
.IR unknown .
.PP
.B assay help
.I COMMAND
shows the flags of one command.
.SH EXAMPLES
.TP
.B assay run
Drive an embedded SQLite database with ten sessions, decide all levels. The history stays in the current folder.
.TP
.B assay run \-\-database postgresql://postgres@127.0.0.1/postgres \-\-isolation serializable \-\-level serializable
Does this PostgreSQL keep its promise? Exit status 0: yes, in this run.
.TP
.B assay check run.jsonl \-\-level session\-si \-\-report run.html
Decide one level of an existing history, and draw the result.
.TP
.B assay check history.edn
The same with a Jepsen history: formats are detected.
.TP
.B assay generate \-\-level snapshot\-isolation \-\-bug lost\-update | assay check \-
See what a violation looks like.
.SH LEVELS
The levels that are decided when none is asked for, weaker ones first. Case does not matter, and each has other names, such as
.B REPEATABLE READ
with quotes;
.B assay levels
lists them.
)";

constexpr char kSpeedUps[] = R"(.SH SPEED-UPS
Commands that decide levels take these too. The verdicts are the same without a speed-up; they are for people who work on assay.
)";

constexpr char kEnd[] = R"(.SH EXIT STATUS
.TP
.B 0
satisfied; without
.BR \-\-level :
the history was checked
.TP
.B 1
violated
.TP
.B 2
unknown: a limit was reached, or the history lacks what the level needs
.TP
.B 3
bad input: the message has file, line, column and what was expected
.TP
.B 4
usage error, or a file could not be read or written
.SH ENVIRONMENT
.TP
.B ASSAY_DATABASE_URL
The database to drive where
.B \-\-database
is not given. A password there does not appear in lists of processes.
.TP
.B NO_COLOR
No colours, even on a terminal.
.PP
Database clients read their own variables, such as
.B PGPASSWORD
and
.BR PGPASSFILE .
.SH FILES
.TP
.BI \-\-config " FILE"
Before the command: values of flags, one section per command: [check] and then level = ["serializable"]. Flags on the command line take
precedence. No file is read by default.
.TP
.I assay\-history\-TIME\-RUN.jsonl
What
.B assay run
records if --history is not given.
)";

// Escapes a text for a manual page: hyphens and backslashes are printed as they are, and no line
// begins with a request.
std::string roff(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool first = i == 0 || text[i - 1] == '\n';
    if (first && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\')
      out += "\\e";
    else if (text[i] == '-')
      out += "\\-";
    else
      out += text[i];
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string flag_text(const DescribedFlag& f) {
  std::string names;
  for (const std::string& name : f.names) names += (names.empty() ? "" : ", ") + bold(name);
  const std::string before_value = f.key_of.empty() ? " " : "=";
  if (!f.value.empty()) names += (names.empty() ? "" : before_value) + italic(f.value);
  std::string out = ".TP\n" + names + "\n" + roff(f.help);
  if (!f.by_default.empty()) out += "; by default " + roff(f.by_default);
  return out + "\n";
}

// Returns " COMMAND its effect" in two lines; a line that is not indented is a remark.
std::string example_text(const std::string& line) {
  if (!line.starts_with("  ")) return ".PP\n" + roff(line) + "\n";
  const std::string text = line.substr(2);
  const size_t gap = text.find("  ");
  std::string out = ".RS 4\n" + bold(text.substr(0, gap)) + "\n";
  if (gap != std::string::npos)
    out += ".RS 4\n" + roff(text.substr(text.find_first_not_of(' ', gap))) + "\n.RE\n";
  return out + ".RE\n";
}

std::string command_text(const DescribedCommand& c) {
  std::string out = fmt::format(".SS assay {}", roff(c.name));
  for (const DescribedFlag& f : c.arguments) out += " " + roff(f.value);
  out += "\n" + roff(c.summary) + ".\n";
  for (const DescribedFlag& f : c.arguments) out += flag_text(f);
  std::vector<std::string> groups = {""};  // the first is for flags without one
  for (const DescribedFlag& f : c.flags)
    if (!f.speed_up && std::ranges::find(groups, f.group) == groups.end())
      groups.push_back(f.group);
  for (const std::string& group : groups) {
    if (!group.empty()) out += ".PP\n" + roff(group) + ":\n";
    for (const DescribedFlag& f : c.flags)
      if (f.group == group && f.names.front() != "--help") out += flag_text(f);
  }
  std::istringstream examples(c.examples);
  out += ".PP\nExamples:\n";
  for (std::string line; std::getline(examples, line);) out += example_text(line);
  return out;
}

std::string levels_text() {
  std::string out;
  for (const LevelInfo& level : default_levels())
    out += fmt::format(".TP\n{}\n{}\n", bold(std::string(level.name)),
                       roff(std::string(level.summary)));
  return out;
}

// All commands that have speed-ups have the same ones.
std::string speed_ups_text(const std::vector<DescribedCommand>& commands) {
  std::string out;
  const auto check = std::ranges::find(commands, "check", &DescribedCommand::name);
  if (check == commands.end()) return out;
  for (const DescribedFlag& f : check->flags)
    if (f.speed_up) out += flag_text(f);
  return out;
}

std::string page(const std::vector<DescribedCommand>& commands) {
  std::string out = kBegin + levels_text() + ".SH COMMANDS\n";
  for (const DescribedCommand& c : commands) out += command_text(c);
  return out + kSpeedUps + speed_ups_text(commands) + kEnd;
}

}  // namespace

Action add_manual(CLI::App& app) {
  return [all = app.get_parent()] { return ended(print(page(describe(*all)))); };
}

}  // namespace assay::internal::cli
