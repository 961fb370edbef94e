// Keys of a flag: parameters after its value, as in `--workload mini:keys=5,tombstones`.
//
// For the parser each key is an option under a separate heading, keys_of("--workload"), so help,
// completion, the manual, ranges and counts work as for flags. Before parsing, a value with keys is
// spelled out: `--workload mini --keys=5 --tombstones`. `--workload :keys=5` gives a key without a
// value.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Config;
class Option;
}  // namespace CLI

namespace assay::internal::cli {

// Returns the group of options that are keys of this flag.
std::string keys_of(const std::string& flag);
// Returns "--workload" for an option that is a key of it; empty if the option is a flag.
std::string flag_of_key(const CLI::Option& option);
// Returns the name of a key: its option's name without the flag's, "interval" for --fault-interval.
std::string key_name(const CLI::Option& option);

// Returns the words of a command line with every key spelled out. A key that the flag does not have
// is a usage error of the parser (bad_flag). `command` is the command that has these words.
std::vector<std::string> spelled_out(const CLI::App& command,
                                     const std::vector<std::string>& words);
// Does the same for a file of flags; `all` is the whole command line.
std::shared_ptr<CLI::Config> config_with_keys(const CLI::App& all);

// Flags and their values, in which options that are keys are appended to the value of their flag.
using GivenFlags = std::vector<std::pair<std::string, std::string>>;
GivenFlags put_together(const CLI::App& command, const GivenFlags& given);

}  // namespace assay::internal::cli
