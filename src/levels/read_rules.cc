// What the operations say by themselves, before anything is searched: this refutes many levels at
// once.
//
//   s1: { w(x,1) abort }   s2: { r(x,1) }     no level but pl-1 lets s2 read what s1 left
//
// The order stated by a file or database, which is replayed first, is here too.

#include <algorithm>
#include <utility>

#include "infer/aggregates.h"
#include "levels/expected_order.h"
#include "levels/overdrawn.h"
#include "levels/rules.h"

namespace assay::internal {
namespace {

bool of_one_state(const LevelInfo& level) { return sees_one_state(level); }

// An operation of a transaction that takes effect whose observation no transaction can have left;
// null if there is none.
const OpenRead* find_sourceless(Case& c, OpenProblem::Listing listing) {
  const auto& all = c.open.reads(listing).all();
  const auto found = std::find_if(all.begin(), all.end(), [&](const OpenRead& read) {
    return read.sources.empty() && c.problem.node_of(read.reader) != kNone;
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

// Where dirty reads are allowed, this is examined separately.
void refute_sourceless(Case& c) {
  const OpenRead* read = find_sourceless(c, c.open.for_orders());
  if (read == nullptr) return;
  // An open read that has no source by itself, not only together with others.
  const OpenRead* alone = find_sourceless(c, OpenProblem::Listing::each);
  if (alone == nullptr) return c.record_sourceless(read->op, read->key, of_one_state);
  const BadRead bad = c.open.reads(OpenProblem::Listing::each).dirty_read(*alone);
  if (bad.anomaly != Anomaly::none) return c.record(bad, has_clean_reads);
  c.record_sourceless(alone->op, alone->key, has_clean_reads);
}

namespace rules {

bool states_an_order(Case& c, const LevelInfo&) { return c.options.expected_order.has_value(); }

// The replay is complete by itself: its acceptance does not depend on the open reads.
void replay_stated_order(Case& c, const LevelInfo&) {
  const auto timer = c.stages.time("expected order");
  const auto asked = [&](EventModel events) {
    return std::ranges::any_of(all_levels(), [&](const LevelInfo& level) {
      return c.lattice.is_wanted(level.id) && level.events == events;
    });
  };
  const ReplayModels models{asked(EventModel::single), asked(EventModel::split),
                            c.lattice.is_wanted(LevelId::strong_si) && c.history.fully_timed() &&
                                c.history.clock_drift() == 0};
  const ExpectedOrder& expected = *c.options.expected_order;
  ExpectedReplays found = replay_expected_order(c.problem, expected, models, c.budget);
  ExpectedOrderResult& result = c.expected_order.emplace();
  result.title = expected.title;
  result.obstacle = std::move(found.obstacle);
  for (ExpectedReplay& replay : found.replays) {
    const bool explains = replay.result.fault == OrderReplay::Fault::none;
    result.replays.push_back(replay.result);
    // The level also orders commits by the times of their ends, which the replay does not look at.
    if (!explains || level_info(replay.result.level).real_time != RealTime::none) continue;
    c.record(replay.result.level, Judgement::satisfied(std::move(replay.order)));
  }
}

bool has_unexplained_read(Case& c, const LevelInfo&) {
  return !c.is_explainable() || c.problem.found.non_repeatable.anomaly != Anomaly::none;
}

void refute_by_unexplained_read(Case& c, const LevelInfo&) {
  if (!c.is_explainable()) return c.record(c.problem.found.bad_read, has_clean_reads);
  c.record(c.problem.found.non_repeatable, [](const LevelInfo& level) { return level.repeatable; });
}

bool may_have_impossible_aggregate(Case& c, const LevelInfo&) {
  return c.has_aggregates && c.is_explainable();
}

void refute_by_aggregate(Case& c, const LevelInfo&) {
  const BadRead everywhere = impossible_aggregate(c.history, false);
  if (everywhere.anomaly != Anomaly::none)
    return c.record(everywhere, [](const LevelInfo&) { return true; });
  const BadRead in_one_state = impossible_aggregate(c.history, true);
  if (in_one_state.anomaly != Anomaly::none) c.record(in_one_state, of_one_state);
}

bool has_open_reads(Case& c, const LevelInfo&) {
  return c.is_explainable() && c.has_open_reads() && c.lattice.anything_left();
}

void refute_by_sourceless(Case& c, const LevelInfo&) { refute_sourceless(c); }

// The writers of the values read need not be known.
void refute_by_counting(Case& c, const LevelInfo&) {
  const BadRead overdrawn = find_overdrawn(c.history);
  if (overdrawn.anomaly == Anomaly::none) return;
  c.record(overdrawn, [](const LevelInfo& level) { return implies(level.id, LevelId::adya_si); });
}

}  // namespace rules

}  // namespace assay::internal
