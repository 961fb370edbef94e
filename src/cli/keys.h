// Keys of a flag: parameters behind its value, as in `--workload mini:keys=5,tombstones`.
//
// To the parser each key is an option under a heading of its own, keys_of("--workload"), so help,
// completion, the manual, ranges and counts are those of flags. Before it parses, a value with keys
// is spelled out: `--workload mini --keys=5 --tombstones`. `--workload :keys=5` gives a key and
// leaves the value open.
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

// The group of options that are keys of this flag.
std::string keys_of(const std::string& flag);
// "--workload" of an option that is a key of it; empty if the option is a flag.
std::string flag_of_key(const CLI::Option& option);
// What a key is called: its option's name without the flag's, "interval" of --fault-interval.
std::string key_name(const CLI::Option& option);

// The words of a command line with every key spelled out. A key that the flag does not have is a
// usage error of the parser (bad_flag). `command` is the one whose words they are.
std::vector<std::string> spelled_out(const CLI::App& command,
                                     const std::vector<std::string>& words);
// The same for a file of flags; `all` is the whole command line.
std::shared_ptr<CLI::Config> config_with_keys(const CLI::App& all);

// Flags and their values, in which options that are keys are put behind the value of their flag.
using GivenFlags = std::vector<std::pair<std::string, std::string>>;
GivenFlags put_together(const CLI::App& command, const GivenFlags& given);

}  // namespace assay::internal::cli
