// Levels that depend on the sources of reads: the weak levels and Adya's. If nothing is open, each
// is decided in about linear time; if sources are open, a strong level is searched first, as its
// order determines the sources.
//
//   s1: { w(x,1) }   s2: { w(x,2) }   s3: { r(x,1) }      pl-3 asks which of x = 1 and x = 2 came
//                                                         first; an order of a strong level and
//                                                         what is stated about versions may tell

#include <string_view>
#include <utility>

#include "levels/nearest_sources.h"
#include "levels/rules.h"

namespace assay::internal {
namespace {

// Whether reads may be dirty: not if every read is clean and every transaction that was read
// committed.
bool may_be_dirty(const Case& c) {
  return c.has_open_reads() || std::ranges::any_of(c.problem.txn, [&](TxnId t) {
           return c.history.status(t) != TxnStatus::committed;
         });
}

// `first`: an order that satisfies the level if the open reads are ignored.
void decide_sources(Case& c, const LevelInfo& level, const Order& first) {
  const OpenReads& open = c.open.reads(OpenProblem::listing_of(level));
  if (!open.obstacle().empty())
    return c.lattice.set_unknown(level.id, c.open_reason(c.problem.unresolved));
  Judgement found =
      decide_with_sources(c.problem, level, open, first, c.options.speed_ups,
                          sees_one_state(level) ? c.chosen : c.chosen_each, c.stages, c.budget);
  if (found.outcome() == Outcome::unknown)
    found.reason.detail = c.open_reason(c.problem.unresolved).detail + ": " + found.reason.detail;
  c.record(level.id, std::move(found));
}

// Decides a level as if there were no open reads. `levels` decides those of its kind.
template <class Levels, class... How>
Judgement decide_without_open(Case& c, const LevelInfo& level, std::string_view stage,
                              std::optional<Levels>& levels, How... how) {
  const auto timer = c.stages.time(stage);
  if (!levels) levels.emplace(c.problem, how...);
  return levels->decide(level.id, c.budget);
}

template <class Levels, class... How>
void decide_by_reads(Case& c, const LevelInfo& level, std::string_view stage,
                     std::optional<Levels>& levels, How... how) {
  Judgement found = decide_without_open(c, level, stage, levels, how...);
  if (found.outcome() != Outcome::satisfied || !c.has_open_reads())
    return c.record(level.id, std::move(found));
  // An order that explains what each transaction saw, and that keeps to the stated orders of
  // versions, also satisfies Adya's levels if enough of these orders is known: all of them, or the
  // ones that matter given the sources along it.
  const Certificate* known =
      level.events == EventModel::adya ? c.lattice.ordering(level.id) : nullptr;
  std::optional<Order> order =
      known == nullptr ? std::nullopt : c.along.as_adya(level.id, known->order);
  if (order) return c.record(level.id, Judgement::satisfied(std::move(*order)));
  decide_sources(c, level, found.certificate.order);
}

}  // namespace

namespace rules {

bool is_weak(Case& c, const LevelInfo& level) {
  return level.events == EventModel::weak && c.is_explainable();
}

// If a strong level is asked for, it is searched in any case, and its order determines the sources.
bool may_take_nearest_sources(Case& c, const LevelInfo& level) {
  const auto determines = [&](const LevelInfo& other) {
    return is_strong(other) && c.lattice.is_open(other.id) && c.timed_enough(other);
  };
  return is_weak(c, level) && c.lattice.is_open(level.id) && c.uses(SpeedUp::narrowing) &&
         c.has_open_reads() && !c.has_aggregates && !std::ranges::any_of(all_levels(), determines);
}

bool looks_at_dirty_reads(Case& c, const LevelInfo& level) {
  return !has_clean_reads(level) && (!c.is_explainable() || may_be_dirty(c));
}

bool is_adya(Case& c, const LevelInfo& level) {
  return level.events == EventModel::adya && c.is_explainable() && !looks_at_dirty_reads(c, level);
}

bool may_state_versions(Case& c, const LevelInfo& level) {
  if (!is_adya(c, level) || c.has_open_reads() || !c.problem.possible.empty()) return false;
  const Certificate* found = c.lattice.ordering(level.id);
  return found != nullptr && !found->order.split;
}

void take_nearest_sources(Case& c, const LevelInfo& level) {
  const OpenReads& asked = c.open.reads(OpenProblem::listing_of(level));
  if (!asked.obstacle().empty() || !asked.lists().all().empty() || !c.open.has_sources()) return;
  Judgement found = decide_without_open(c, level, "weak", c.weak);
  if (found.outcome() == Outcome::satisfied)
    found = try_nearest_sources(c.problem, c.open.for_search(), level, asked,
                                found.certificate.order, c.options.speed_ups, c.stages, c.budget);
  if (found.outcome() != Outcome::unknown) c.record(level.id, std::move(found));
}

void decide_weak(Case& c, const LevelInfo& level) { decide_by_reads(c, level, "weak", c.weak); }

// For a level whose reads may be dirty, updates order nothing.
void decide_adya(Case& c, const LevelInfo& level) {
  if (has_clean_reads(level)) return decide_by_reads(c, level, "adya", c.adya, UpdateOrders::known);
  c.lattice.await(next_stronger(level.id), level.id);
  decide_by_reads(c, level, "adya", c.adya_alone, UpdateOrders::ignored);
}

// A level without clean reads has a separate matching, in which only lists are open.
void decide_with_dirty_reads(Case& c, const LevelInfo& level) {
  const auto timer = c.stages.time("adya");
  if (c.is_explainable()) c.lattice.await(next_stronger(level.id), level.id);
  const auto out_of_budget = [&] { c.lattice.set_unknown(level.id, c.budget.reason()); };
  if (!has_room_to_match(c.history, c.budget)) return out_of_budget();
  const Problem dirty =
      make_problem(c.history, {}, c.budget, {.reads = Reads::dirty, .threads = c.options.threads});
  if (c.budget.exhausted_now()) return out_of_budget();
  const auto allows_dirty = [](const LevelInfo& other) { return !has_clean_reads(other); };
  if (dirty.found.bad_read.anomaly != Anomaly::none)
    return c.record(dirty.found.bad_read, allows_dirty);
  if (dirty.found.unexplained != kNone)
    return c.record_sourceless(dirty.found.unexplained, dirty.found.unexplained_key, allows_dirty);
  if (!dirty.unresolved.empty())
    return c.lattice.set_unknown(level.id, c.open_reason(dirty.unresolved));
  c.record(level.id, AdyaLevels(dirty, UpdateOrders::ignored).decide(level.id, c.budget));
}

// In an order of whole transactions that explains what each of them saw, all dependencies run
// forwards, provided that versions were installed in the order of their writers. That is known if
// it is stated for each two consecutive versions.
void accept_order_of_versions(Case& c, const LevelInfo& level) {
  const auto timer = c.stages.time("adya");
  const Certificate& found = *c.lattice.ordering(level.id);
  if (c.along.states_whole(found.order.events))
    c.lattice.extend(found, c.lattice.served(level.id, found));
}

// Two cases in which a level is satisfied because the one above it is, although its own evidence
// does not show that.
//
// A query's observation of a key that never satisfied its condition may be the last version of
// writers that it sees anyway. At causal nothing follows from that. Below causal, where a
// transaction that reads from a reader sees the reader's sources and nothing beyond, something
// does. So an order that explains everything else is accepted only if it satisfies causal.
//
// The other case: where reads may be dirty, updates order nothing. But at the level above they do,
// and what that level allows is allowed here, too.
bool follows_from_above(Case& c, const LevelInfo& level) {
  const bool through_readers = sees_through_readers(level) && c.any_version_skipped;
  const bool dirty =
      !has_clean_reads(level) && c.is_explainable() && c.lattice.was_searched(level.id);
  return (through_readers || dirty) &&
         c.lattice.outcome(next_stronger(level.id)) == Outcome::satisfied;
}

void take_from_above(Case& c, const LevelInfo& level) {
  c.lattice.extend(c.lattice.certificate(next_stronger(level.id)), {level.id});
}

}  // namespace rules

}  // namespace assay::internal
