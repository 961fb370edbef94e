// The parts of a Markdown page that can be checked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::internal::docs {

// "`session-si` violated (`lost-update`)"
struct Claim {
  std::string level;
  std::string verdict;
  std::string anomaly;  // empty if the page names none
};

// A ```hist block and the paragraph "Verdicts: …" that follows it.
struct Example {
  int line = 0;  // of the opening fence
  std::string history;
  std::vector<Claim> claims;
};
std::vector<Example> examples(const std::string& page);

// A command of a ```console block ("$ …") and the output shown under it.
struct Session {
  int line = 0;
  std::string command;
  std::string output;
};
std::vector<Session> sessions(const std::string& page);

// A command that a page shows without its output: between backticks, indented, or in a ```sh block.
// It begins with `assay` or with the path of a script.
struct Command {
  int line = 0;
  std::string text;
};
std::vector<Command> commands(const std::string& page);

// A command that a page shows to be typed, outside of ```console: a line that is indented or in a
// ```sh block and calls a program, with those that go on with it and without the remark behind it;
// and between backticks, where it has arguments and none of them is a NAME to be filled in.
std::vector<Command> shown_to_be_typed(const std::string& page);

// What the commands of a page need beside assay: "postgres" of a page with the line
// "<!-- commands run with: postgres -->"; empty where the page says nothing.
std::string needs(const std::string& page);

// True if `actual` is what `shown` promises: equal line by line, but for durations and sizes in
// memory, which vary from run to run, and for lines "…", which stand for any number of lines.
bool matches(const std::string& shown, const std::string& actual);

}  // namespace assay::internal::docs
