// The commands and their flags as data, read from the command line's parser, for shell completions
// and the manual.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace assay::internal::cli {

struct DescribedFlag {
  std::vector<std::string> names;  // "--level", "-l"; empty for a positional argument
  std::string value;               // "LEVEL": the value that it takes; empty if none
  std::string help;
  std::string by_default;           // the value if it is not given; empty: none, or its help has it
  std::string group;                // the heading under which --help-all lists it; empty: none
  std::string key_of;               // "--workload": it is a key of this flag, and `names` is "keys"
  bool speed_up = false;            // belongs to --without, for developers of assay
  std::vector<std::string> values;  // the possible values; empty: any
  bool takes_file = false;
};

struct DescribedCommand {
  std::string name, summary, examples;
  std::vector<DescribedFlag> arguments;  // positional ones, by the name that --help shows
  std::vector<DescribedFlag> flags;      // and their keys
};

// Describes the whole command line, in the order of --help.
std::vector<DescribedCommand> describe(const CLI::App& all);

}  // namespace assay::internal::cli
