// The lattice, strongest on top. The places are given by hand, in the rows of the levels: the
// levels are few, and people learn to read a figure that never changes its shape. Levels that are
// decided only on request are to its right, if any of them was asked for.
#include <algorithm>
#include <span>

#include "explain/explain.h"
#include "report/figures.h"
#include "report/summary.h"
#include "report/svg.h"

namespace assay::internal {
namespace {

constexpr double kWidth = 172, kHeight = 40, kColumn = 190, kRow = 62;

Point centre(LevelId id) {
  const FigurePlace& p = level_info(id).figure;
  return {12 + kWidth / 2 + p.column * kColumn, 10 + kHeight / 2 + p.row * kRow};
}

struct Look {
  std::string style = "asked-not";
  std::string word = "not asked";
  std::string tooltip;
};

Look look(const Audit& c, LevelId id) {
  const Verdict* v = c.result.find(id);
  if (v == nullptr) return {};
  Look l{std::string(outcome_name(v->outcome)), std::string(outcome_name(v->outcome)), v->reason};
  if (v->outcome == Outcome::violated)
    if (const Explanation* e = find_explanation(c.explanations, id)) {
      l.word = anomaly_info(e->anomaly).name;
      l.tooltip = anomaly_info(e->anomaly).summary;
    }
  if (v->outcome == Outcome::violated && held_beside(c, id))
    l.style = outcome_name(Outcome::unknown);
  return l;
}

}  // namespace

Figure lattice_figure(const Audit& c) {
  const bool more = std::any_of(c.requested.begin(), c.requested.end(), [](LevelId id) {
    const LevelInfo& level = level_info(id);
    return level.on_request() && level.group != LevelGroup::declared;
  });
  const std::span<const LevelInfo> levels = more ? all_levels() : default_levels();
  Svg svg({}, (more ? 5 : 3) * kColumn + 8, 8 * kRow,
          "Lattice of isolation levels with the verdict of each");
  for (const LevelInfo& level : levels)
    for (const LevelId weaker : next_weaker(level.id)) {
      const bool guarantee = level.group == LevelGroup::session_guarantees;
      // Lines between the two halves would cross everything.
      if (guarantee || level_info(weaker).on_request() != level.on_request()) continue;
      const Point a = centre(level.id), b = centre(weaker);
      svg.line({a.x, a.y + kHeight / 2}, {b.x, b.y - kHeight / 2}, "arrow faint");
    }
  const std::vector<LevelId> best = strongest_satisfied(c.result);
  for (const LevelInfo& level : levels) {
    const Point p = centre(level.id);
    const Look l = look(c, level.id);
    const bool is_best = std::find(best.begin(), best.end(), level.id) != best.end();
    svg.box({p.x - kWidth / 2, p.y - kHeight / 2}, kWidth, kHeight,
            "level " + l.style + (is_best ? " best" : ""), l.tooltip);
    svg.text({p.x, p.y - 3}, level.name, "name");
    svg.text({p.x, p.y + 13}, l.word, "small");
  }
  return svg.finish();
}

}  // namespace assay::internal
