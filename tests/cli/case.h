// Test cases of the command line, one per file:
//
//   # what is shown
//   $ assay check - --level session-si
//   < initial 0
//   < s1: { w(x,1) }
//   exit 0
//   out satisfied  session-si
//   out! violated
//   err
//
// "<" lines are standard input. Each "out" and "err" line must occur in the output, as part of a
// line and in this order; "out!" and "err!" lines must not occur anywhere; a bare "out" or "err"
// means that nothing at all is printed there. "json KEY.KEY VALUE" looks into standard output, a
// line of JSON ("*" stands for any value). Each command runs in a folder of its own with assay on
// the path, the examples of the repository in examples/ and nothing else; further "$" lines run in
// the same folder. What takes its time is waited for with `wait-for` (bin/), never with `sleep`.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace assay::internal::cli_cases {

struct Step {
  std::string command;
  std::string input;
  int exit = 0;
  std::vector<std::string> out, err;          // in this order
  std::vector<std::string> not_out, not_err;  // nowhere
  bool no_out = false, no_err = false;
  std::vector<std::pair<std::string, std::string>> json;
};

struct Case {
  std::string name;
  std::vector<Step> steps;
  std::string mistake;  // of the file itself; empty if it can be understood
};

// For messages of failed tests.
void PrintTo(const Case& c, std::ostream* out);

Case parse_case(const std::string& name, const std::string& text);

struct Outcome {
  int exit = 0;
  std::string out, err;
};

// What is wrong with the outcome; empty if nothing.
std::vector<std::string> faults(const Step& step, const Outcome& outcome);

}  // namespace assay::internal::cli_cases
