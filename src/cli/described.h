// The commands and their flags as data, read back from the command line's parser: for shell
// completions and the manual.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace assay::internal::cli {

struct DescribedFlag {
  std::vector<std::string> names;  // "--level", "-l"; empty for a positional argument
  std::string value;               // "LEVEL": what it takes; empty if nothing
  std::string help;
  std::string by_default;  // the value where it is not given; empty: none, or its help says it
  std::string group;       // the heading under which --help-all has it; empty: none
  std::string key_of;      // "--workload": it is a key of this flag, and `names` is "keys"
  bool speed_up = false;   // --without, for developers of assay
  std::vector<std::string> values;  // what there is to choose from; empty: anything
  bool takes_file = false;
};

struct DescribedCommand {
  std::string name, summary, examples;
  std::vector<DescribedFlag> arguments;  // positional ones, by the name that --help shows
  std::vector<DescribedFlag> flags;      // and their keys
};

// Of the whole command line, in the order of --help.
std::vector<DescribedCommand> describe(const CLI::App& all);

}  // namespace assay::internal::cli
