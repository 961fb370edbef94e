// Levels that an order of events decides, from prefix to strict serializability. Replay of the hint
// accepts them in linear time, for nearly every history of a sound database; the strongest comes
// first, as its order serves the others. The remaining levels are searched, from the weakest
// upwards, since a refutation of one refutes all above it; the variants with session order come
// before those without, because sessions make them cheaper.
//
//   s1: { w(x,1) }  { r(y,0) }   s2: { w(y,1) }  { r(x,0) }     no order with sessions explains it,
//                                                               but one without does
//
// If nearly all orders of versions are stated, a search has hardly anything to choose; if sources
// are open, a strong level determines them. In both cases the strongest level is searched first.

#include <optional>
#include <utility>

#include "levels/clock_faults.h"
#include "levels/rules.h"
#include "levels/strong.h"

namespace assay::internal {
namespace {

// Satisfied, or unknown.
Judgement play(Case& c, const Problem& problem, const LevelInfo& level) {
  if (!c.uses(SpeedUp::replay)) return {};
  return accept_by_replay(problem, level, c.options, c.stages, c.budget);
}

template <class Decide>
Judgement decide_with_orders(Case& c, const LevelInfo& level, const Decide& decide) {
  return c.open.decide_with_orders(decide, [&] {
    refute_sourceless(c);
    return c.lattice.is_decided(level.id);
  });
}

void record(Case& c, const LevelInfo& level, Judgement found) {
  if (c.lattice.is_decided(level.id)) return;
  if (found.outcome() == Outcome::satisfied && !c.open.is_explained_by(found.certificate.order))
    return c.lattice.set_unknown(level.id, c.open_reason(c.problem.unresolved));
  c.record(level.id, std::move(found));
}

}  // namespace

Judgement search_order(Case& c, const LevelInfo& level) {
  return decide_with_orders(c, level,
                            [&](const Problem& problem) { return c.open.search(problem, level); });
}

namespace rules {

bool is_searched(Case& c, const LevelInfo& level) {
  return is_strong(level) && c.is_explainable() && c.timed_enough(level);
}

bool is_searched_early(Case& c, const LevelInfo& level) {
  return is_searched(c, level) && (c.stated_first || c.open.has_sources());
}

bool may_ask_the_clock(Case& c, const LevelInfo& level) {
  return c.stated_first && c.uses(SpeedUp::clock_faults) && is_searched(c, level) &&
         level.real_time != RealTime::none;
}

bool may_replay(Case& c, const LevelInfo& level) {
  return c.uses(SpeedUp::replay) && !c.stated_first && c.options.engine == EngineId::graph &&
         is_searched(c, level);
}

// Goes from the weakest level upwards, since a refutation of one usually refutes all above it.
void refute_by_the_clock(Case& c, const LevelInfo& level) {
  if (!c.clock_faults) c.clock_faults.emplace(c.problem);
  Judgement found = c.clock_faults->refute(level, c.without_counts(), c.stages, c.budget);
  if (found.outcome() == Outcome::violated) c.record(level.id, std::move(found));
}

void accept_by_replaying(Case& c, const LevelInfo& level) {
  Judgement found =
      decide_with_orders(c, level, [&](const Problem& problem) { return play(c, problem, level); });
  if (found.outcome() == Outcome::satisfied) record(c, level, std::move(found));
}

void decide_by_search(Case& c, const LevelInfo& level) {
  record(c, level, decide_with_orders(c, level, [&](const Problem& problem) {
           Judgement played = c.stated_first ? play(c, problem, level) : Judgement();
           return played.outcome() == Outcome::satisfied ? played : c.open.search(problem, level);
         }));
}

// Without times the level can still be refuted by its other conditions.
void refute_without_time(Case& c, const LevelInfo& level) {
  LevelInfo timeless = level;
  timeless.real_time = RealTime::none;
  Judgement found = decide_with_orders(
      c, level, [&](const Problem& problem) { return c.open.search(problem, timeless); });
  if (found.outcome() == Outcome::violated) c.record(level.id, std::move(found));
}

// Whether a search without the level's real-time condition can say something new: not if the level
// without that condition is a level, too, and was searched.
bool is_searched_without_time(Case& c, const LevelInfo& level) {
  const auto says_all = [&](const LevelInfo& other) {
    return other.real_time == RealTime::none && same_model(level, other) &&
           other.session_order == level.session_order &&
           (c.lattice.is_decided(other.id) || c.lattice.was_searched(other.id));
  };
  return is_strong(level) && c.is_explainable() && !c.timed_enough(level) &&
         !(c.uses(SpeedUp::carry) && std::ranges::any_of(all_levels(), says_all));
}

}  // namespace rules

}  // namespace assay::internal
