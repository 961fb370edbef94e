#include "explain/other_levels.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "explain/reads_and_writes.h"
#include "explain/witness.h"
#include "history/session_levels.h"

namespace assay::internal {

bool is_weaker(LevelId other, LevelId level) {
  return other != level && other != with_sessions(level) && implies(with_sessions(level), other);
}

void set_weakest(const History& h, Explanation& e) {
  std::vector<LevelId> broken = e.levels;
  broken.push_back(e.level);
  const auto has_group = [&](LevelGroup group) {
    return std::ranges::any_of(broken, [&](LevelId id) { return level_info(id).group == group; });
  };
  if (e.self_proving && !has_group(LevelGroup::declared)) {
    std::vector<LevelId> others;
    for (const LevelInfo& level : all_levels())
      if ((!level.on_request() || has_group(level.group)) &&
          std::ranges::find(broken, level.id) == broken.end())
        others.push_back(level.id);
    if (const Result<History> few = part_of(h, e.transactions); few.ok())
      for (const Refuted& r : refuted(*few, std::move(others))) broken.push_back(r.level);
  }
  std::sort(broken.begin(), broken.end());
  broken.erase(std::unique(broken.begin(), broken.end()), broken.end());
  for (const LevelId level : broken)
    if (std::ranges::none_of(broken, [&](LevelId other) { return is_weaker(other, level); }))
      e.weakest.push_back(level);
}

void set_statements_needed(const History& h, Explanation& e) {
  if (!h.states_versions()) return;
  e.need_statements = e.levels;
  std::optional<Witness> witness = Witness::of(h, e.transactions);
  if (!witness) return;
  History seen = std::move(*witness).take_history();
  seen.keep_stated_orders(0);
  seen.forget_stated_sources();
  for (const Refuted& r : refuted(seen, e.levels)) std::erase(e.need_statements, r.level);
}

}  // namespace assay::internal
