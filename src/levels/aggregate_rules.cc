// Aggregates at levels that no order of events decides: these levels know only impossible
// aggregates (aggregate_choices.cc). An order that is found for another level is replayed, and
// counts if it explains them.
//
//   s1: { w(x,1) w(y,2) }   s2: { sum(*) = 3 }     the order s2, s1 satisfies all levels but for
//                                                  the sum, which s1, s2 explains
//
// Cost: replaying is linear in the operations.

#include <utility>

#include "history/aggregate.h"
#include "history/predicates.h"
#include "infer/aggregates.h"
#include "levels/rules.h"

namespace assay::internal {
namespace {

std::string in_words(const History& history, OpId op) {
  const Aggregate& aggregate = history.predicates().aggregate(history.selected(op).aggregate);
  return internal::in_words(history, aggregate) + " = " + value_of(aggregate.value).to_string() +
         " in transaction " + history.name(history.txn_of(op));
}

std::optional<Order> whole_order(Case& c, LevelId level) {
  Judgement found = search_order(c, c.history.level(level));
  if (found.outcome() != Outcome::satisfied) return std::nullopt;
  Order order = std::move(found.certificate.order);
  if (!unexplained_aggregates(c.history, order).empty()) return std::nullopt;
  return order;
}

}  // namespace

bool explains_aggregates(Case& c, const Certificate& certificate) {
  const auto ordered = [](LevelId id) { return is_strong(level_info(id)); };
  const Order& order = certificate.order;
  if (level_info(certificate.levels.front()).events == EventModel::mixed) return false;
  if (!std::ranges::any_of(certificate.levels, ordered) &&
      (order.split || !replays(c.history, order)))
    return false;
  return unexplained_aggregates(c.history, order).empty() &&
         std::ranges::all_of(certificate.levels, [&](LevelId level) {
           return level_info(level).events != EventModel::adya || c.along.knows(level, order);
         });
}

void leave_aggregates_open(Case& c, const Certificate& certificate) {
  const std::vector<OpId> open = unexplained_aggregates(c.history, certificate.order);
  Unknown why{UnknownCause::aggregate,
              "no order was found that explains both the reads and the aggregates"};
  if (!open.empty()) why.detail += ": " + in_words(c.history, open.front());
  for (const LevelId level : certificate.levels) {
    if (c.lattice.is_decided(level)) continue;
    c.lattice.set_unknown(level, why);
    c.unexplained.insert(level);
  }
}

namespace rules {

// Whether a level that no order of whole transactions decides has nothing but the aggregates
// against it: such an order may explain them.
bool may_have_whole_order(Case& c, const LevelInfo& level) {
  return !is_strong(level) && c.unexplained.contains(level.id);
}

// Looks for such an order. Weak levels have been given the order of a stronger level, if levels are
// carried.
void accept_by_whole_order(Case& c, const LevelInfo& level) {
  const bool adya = level.events == EventModel::adya;
  const Certificate* ordered = adya ? c.lattice.ordering(level.id) : nullptr;
  const Order* found = ordered == nullptr ? nullptr : &ordered->order;
  if (!c.uses(SpeedUp::carry) && c.is_explainable()) {
    using enum LevelId;
    const LevelId of = implies(serializable, level.id) ? serializable : session_serializable;
    const auto [known, fresh] = c.whole_orders.try_emplace(of);
    if (fresh) known->second = whole_order(c, of);
    if (known->second) found = &*known->second;
  }
  if (found == nullptr || found->split) return;
  if (adya && !c.along.knows(level.id, *found)) return;
  Certificate certificate = Judgement::satisfied(*found).certificate;
  certificate.levels = {level.id};
  c.record(std::move(certificate));
}

}  // namespace rules

}  // namespace assay::internal
