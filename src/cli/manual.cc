#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <string>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/described.h"

namespace assay::internal::cli {
namespace {

// Text of a manual page: hyphens and backslashes as they are, no line that begins with a request.
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

std::string flag_text(const DescribedFlag& f) {
  std::string names;
  for (const std::string& name : f.names)
    names += (names.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  if (!f.value.empty()) names += (names.empty() ? "\\fI" : " \\fI") + roff(f.value) + "\\fR";
  return ".TP\n" + names + "\n" + roff(f.help) + "\n";
}

std::string command_text(const DescribedCommand& c) {
  std::string out = fmt::format(".SS assay {}", roff(c.name));
  for (const DescribedFlag& f : c.arguments) out += " " + roff(f.value);
  out += "\n" + roff(c.summary) + ".\n";
  for (const DescribedFlag& f : c.arguments) out += flag_text(f);
  for (const DescribedFlag& f : c.flags) out += flag_text(f);
  if (!c.examples.empty()) out += ".PP\nExamples:\n.nf\n" + roff(c.examples) + ".fi\n";
  return out;
}

std::string page(const std::vector<DescribedCommand>& commands) {
  std::string out = R"(.TH ASSAY 1 "" "assay )" ASSAY_VERSION R"(" "User Commands"
.SH NAME
assay \- find out which transaction isolation level a database really gave its clients
.SH SYNOPSIS
.B assay
.I COMMAND
.RI [ "argument ..." ]
.SH DESCRIPTION
assay drives a database with concurrent transactions, records what the clients saw (the history), decides for every isolation
level from read committed to strict serializability whether the history satisfies it, explains each violation, and gives a
certificate for each verdict, which a small independent verifier has checked.
.SH COMMANDS
)";
  for (const DescribedCommand& c : commands) out += command_text(c);
  out += R"(.SH EXIT STATUS
0 satisfied, 1 violated, 2 unknown, 3 bad input, 4 usage or I/O. Unknown is never 0.
.SH ENVIRONMENT
.TP
.B NO_COLOR
No colours, even on a terminal.
)";
  return out;
}

}  // namespace

Action add_manual(CLI::App& app) {
  return [all = app.get_parent()] {
    const Status s = print(page(describe(*all)));
    return s.ok() ? Exit::satisfied : fail(s.error());
  };
}

}  // namespace assay::internal::cli
