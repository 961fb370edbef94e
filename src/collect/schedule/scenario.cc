#include "collect/schedule/scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "history/level_name.h"

namespace assay::internal::collect::schedule {

Result<Scenario> scenario_of(std::string_view text, std::string_view path) {
  Scenario s;
  uint64_t line = 0;
  const auto wrong = [&](std::string what) {
    return Error{ErrorKind::bad_input, std::move(what), std::string(path), line, 1};
  };
  // "-- WHAT: rest", the next line.
  std::string_view left = text;
  const auto next = [&]() -> std::pair<std::string, std::string> {
    std::string_view comment = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(comment.size() + 1, left.size()));
    ++line;
    const size_t colon = comment.find(": ");
    if (!comment.starts_with("-- ") || colon == comment.npos) return {};
    return {std::string(comment.substr(3, colon - 3)), std::string(comment.substr(colon + 2))};
  };
  std::tie(s.name, s.summary) = next();
  if (s.name.empty()) return wrong("no name; expected '-- NAME: what it shows'");
  const auto [anomaly_word, anomaly] = next();
  const auto found = find_anomaly(anomaly);
  if (anomaly_word != "anomaly" || !found)
    return wrong("no anomaly; expected '-- anomaly: NAME', such as lost-update");
  const auto [level_word, level] = next();
  const auto forbids = find_level(level);
  if (level_word != "level" || !forbids)
    return wrong("no level; expected '-- level: NAME', the weakest that is then violated");
  auto file = parse(text, path);
  if (!file.ok()) return file.error();
  if (file->permutations.size() != 1)
    return wrong(fmt::format("{} permutations; expected one", file->permutations.size()));
  s.anomaly = *found;
  s.level = *forbids;
  s.file = std::move(*file);
  return s;
}

Result<std::vector<Scenario>> all_scenarios(std::span<const NamedText> files) {
  std::vector<Scenario> all;
  for (const auto& [path, text] : files) {
    auto scenario = scenario_of(text, path);
    if (!scenario.ok()) return scenario.error();
    all.push_back(std::move(*scenario));
  }
  return all;
}

}  // namespace assay::internal::collect::schedule
