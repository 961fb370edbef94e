#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "assay/level.h"
#include "base/json.h"
#include "base/wrap.h"
#include "cli/command.h"
#include "cli/console.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

std::string group_title(LevelGroup group) {
  if (group == LevelGroup::standard) return "Decided by default:\n";
  return fmt::format("Decided on request (--level {}):\n", level_group_name(group));
}

std::string table() {
  constexpr size_t kText = 24;  // the column of a level's description
  std::string out;
  const auto line = [&out](std::string_view name, std::string_view text) {
    out += fmt::format("  {:<21} {}\n", name, wrapped(text, columns_of_stdout(), kText, kText));
  };
  for (const LevelGroup group : {LevelGroup::standard, LevelGroup::session_guarantees,
                                 LevelGroup::adya, LevelGroup::statements, LevelGroup::declared}) {
    out += (out.empty() ? "" : "\n") + group_title(group);
    for (const LevelInfo& level : named_levels()) {
      if (level.group != group) continue;
      line(level.name, level.summary);
      if (!level.aliases.empty()) line("", "also: " + std::string(level.aliases));
      const std::string weaker = level_names(next_weaker(level.id));
      if (!weaker.empty()) line("", "implies: " + weaker);
    }
  }
  return out;
}

std::string json() {
  Json levels = Json::array();
  for (const LevelInfo& level : named_levels()) {
    Json j;
    j["id"] = level.name;
    j["aliases"] = Json::array();
    for (size_t at = 0; at < level.aliases.size();) {
      const size_t end = std::min(level.aliases.find(' ', at), level.aliases.size());
      j["aliases"].push_back(level.aliases.substr(at, end - at));
      at = end + 1;
    }
    j["group"] = level_group_name(level.group);
    j["summary"] = level.summary;
    j["implies"] = Json::array();
    for (const LevelId id : next_weaker(level.id)) j["implies"].push_back(level_info(id).name);
    levels.push_back(std::move(j));
  }
  return levels.dump() + "\n";
}

}  // namespace

Action add_levels(CLI::App& app) {
  auto as_json = std::make_shared<bool>(false);
  app.add_flag("--json", *as_json, "one line of JSON");
  return [as_json] { return ended(print(*as_json ? json() : table())); };
}

}  // namespace assay::internal::cli
