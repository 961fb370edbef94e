#include "cli/described.h"

#include <CLI/CLI.hpp>

#include "assay/format.h"
#include "assay/level.h"
#include "cli/command.h"
#include "collect/workload.h"
#include "report/report.h"

namespace assay::internal::cli {
namespace {

template <class Range, class Name>
std::vector<std::string> names_of(const Range& range, Name name) {
  std::vector<std::string> names;
  for (const auto& one : range) names.emplace_back(name(one));
  return names;
}

// By the type that --help shows.
std::vector<std::string> values_of(const std::string& type) {
  if (type == "LEVEL") return names_of(all_levels(), [](const LevelInfo& l) { return l.name; });
  if (type == "FORMAT") return names_of(all_formats(), [](const FormatInfo& f) { return f.name; });
  if (type == "WORKLOAD")
    return names_of(collect::all_workloads(),
                    [](const collect::WorkloadInfo& w) { return w.name; });
  std::vector<std::string> values;  // "none|points|intervals"
  for (size_t at = 0; type.find('|') != std::string::npos && at < type.size();) {
    const size_t end = std::min(type.find('|', at), type.size());
    const std::string value = type.substr(at, end - at);
    if (value != "FILE") values.push_back(value);
    at = end + 1;
  }
  return values;
}

DescribedFlag describe_flag(const CLI::Option& option) {
  DescribedFlag flag;
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  flag.help = option.get_description();
  const bool takes_value = option.get_items_expected_max() > 0;
  if (flag.names.empty()) {
    flag.value = option.get_name();
  } else if (takes_value) {
    flag.value = option.get_type_name().empty() ? "VALUE" : option.get_type_name();
  }
  flag.values = values_of(flag.value);
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
