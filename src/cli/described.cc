#include "cli/described.h"

#include <CLI/CLI.hpp>

#include "assay/format.h"
#include "assay/level.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/keys.h"
#include "collect/workload.h"
#include "report/report.h"

namespace assay::internal::cli {
namespace {

constexpr char kNoGroup[] = "Options";  // the parser's heading for flags without one

// Returns the possible values by the type that --help shows.
std::vector<std::string> values_of(const std::string& type) {
  if (type == "LEVEL") return names_of(named_levels(), &LevelInfo::name);
  if (type == "FORMAT") return names_of(all_formats(), &FormatInfo::name);
  if (type == "WORKLOAD") return names_of(collect::all_workloads(), &collect::WorkloadInfo::name);
  return {};
}

// Splits "a|b|FILE" at '|' and leaves out FILE, which is not a value.
std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; text.find(separator) != std::string::npos && at < text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    const std::string part = text.substr(at, end - at);
    if (part != "FILE") parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

// Sets what the option takes and the possible values. The parser keeps both in one text,
// "WHEN:{auto,always,never}", and has "N:INT in [1 - 100]" for a range.
void describe_value(const std::string& type, DescribedFlag& flag) {
  const size_t colon = type.find(':');
  flag.value = type.empty() ? "VALUE" : type.substr(0, colon);
  flag.values = values_of(flag.value);
  if (flag.values.empty()) flag.values = parts_of(flag.value, '|');
  const size_t open = type.find('{');
  if (open != std::string::npos && type.ends_with('}'))
    flag.values = parts_of(type.substr(open + 1, type.size() - open - 2), ',');
}

DescribedFlag describe_flag(const CLI::Option& option) {
  DescribedFlag flag;
  flag.key_of = flag_of_key(option);
  if (!flag.key_of.empty()) flag.names.push_back(key_name(option));
  for (const std::string& name : option.get_lnames())
    if (flag.key_of.empty()) flag.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  flag.help = option.get_description();
  if (flag.names.empty()) {
    flag.value = option.get_name();
  } else if (option.get_items_expected_max() > 0) {
    describe_value(option.get_type_name(), flag);
  }
  if (flag.help.find("default") == std::string::npos) flag.by_default = option.get_default_str();
  if (option.get_group() != kNoGroup) flag.group = option.get_group();
  flag.speed_up = option.get_group() == kSpeedUpsGroup;
  flag.takes_file = flag.value.find("FILE") != std::string::npos || flag.value == "HISTORY" ||
                    flag.value == "CERTIFICATE" || flag.value == "DIRECTORY";
  return flag;
}

}  // namespace

std::vector<DescribedCommand> describe(const CLI::App& all) {
  std::vector<DescribedCommand> commands;
  for (const Command& command : all_commands()) {
    DescribedCommand& described = commands.emplace_back();
    described.name = command.name;
    described.summary = command.summary;
    described.examples = command.examples;
    for (const CLI::Option* option : all.get_subcommand(described.name)->get_options()) {
      DescribedFlag flag = describe_flag(*option);
      (flag.names.empty() ? described.arguments : described.flags).push_back(std::move(flag));
    }
  }
  return commands;
}

}  // namespace assay::internal::cli
