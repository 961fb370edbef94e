// No engine looks at aggregates: they say something of many versions at once. So an order is found without them first; those
// that it does not explain are replaced by a query with rows of some state, and a copy of the history is decided with these.
//
//   s1: { w(x,1) w(y,2) }   s2: { sum(*) = 3 }     the order without the sum may put s2 first, where the sum is 0
//   a copy                  s2: { x = 1, y = 2 }   its only order is s1, s2, in which the sum is 3
//
// The rows are of a state near the place of the aggregate in the last order. Where a proof says that this cannot be, those of
// the transactions in the proof are others. An order of a copy is an order of the history once it explains all aggregates. That
// none is found says nothing.
//
// Cost: that of deciding the copies, of which there are fewer of large histories.

#include "levels/aggregate_orders.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "history/aggregate.h"
#include "infer/aggregates.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

constexpr size_t kMostVersionSets = 16;  // of one aggregate

std::vector<TxnId> transactions_of(const History& h, const Certificate& refutation) {
  std::vector<TxnId> all;
  if (refutation.kind == Certificate::Kind::bad_read)
    all.push_back(h.txn_of(refutation.bad_read.read));
  for (const ProofStep& step : refutation.proof.steps) {
    if (step.kind == ProofStep::Kind::sources && step.source != kNone)
      all.push_back(h.txn_of(step.source));
    for (const Edge& edge : step.cycle) {
      all.push_back(edge.from);
      all.push_back(edge.to);
    }
    for (const Literal& literal : step.given) all.push_back(literal.to);
  }
  std::sort(all.begin(), all.end());
  return all;
}

uint32_t most_tried(const History& history) {
  constexpr uint32_t kMostOperations = 400'000;
  return std::clamp(kMostOperations / std::max(1u, history.op_count()), 32u, 400u);
}

class AggregateOrders {
 public:
  AggregateOrders(const History& history, LevelId level, const CheckOptions& options,
                  Budget& budget)
      : history_(history), level_(level), options_(options), budget_(budget) {}

  std::optional<Order> find(const Order* base);

 private:
  bool take_rows(OpId op, const Order& order);
  bool take_others(const std::vector<TxnId>& blamed, const Order& order);
  std::optional<Order> order_given(std::vector<TxnId>& blamed);

  const History& history_;
  const LevelId level_;
  const CheckOptions& options_;
  Budget& budget_;
  std::map<OpId, VersionSet> rows_;       // in place of some aggregates
  std::map<OpId, size_t> tried_;          // version sets of each before
  uint32_t left_ = most_tried(history_);  // so many copies are still decided at most
};

std::optional<Order> AggregateOrders::find(const Order* base) {
  std::vector<TxnId> blamed;
  std::optional<Order> order = base != nullptr ? *base : order_given(blamed);
  while (order && !budget_.exhausted_now()) {
    const std::vector<OpId> unexplained = unexplained_aggregates(history_, *order);
    if (unexplained.empty()) return order;
    bool more = false;
    for (const OpId op : unexplained) more |= take_rows(op, *order);
    if (!more) return std::nullopt;
    std::optional<Order> next;
    while (!(next = order_given(blamed)))
      if (!take_others(blamed, *order)) return std::nullopt;
    order = std::move(next);
  }
  return std::nullopt;
}

// The next version set of an aggregate. False if there is none.
bool AggregateOrders::take_rows(OpId op, const Order& order) {
  const size_t at = tried_[op]++;
  if (at < kMostVersionSets) {
    std::vector<VersionSet> sets = version_sets(history_, order, op, at + 1, budget_);
    if (at < sets.size()) return rows_[op] = std::move(sets[at]), true;
  }
  rows_.erase(op);
  return false;
}

// For that aggregate of these transactions, or of any, for which least was tried. False if nothing was taken for any.
bool AggregateOrders::take_others(const std::vector<TxnId>& blamed, const Order& order) {
  OpId least = kNone;
  std::pair<bool, size_t> rank;
  for (const auto& [op, rows] : rows_) {
    const bool named = std::binary_search(blamed.begin(), blamed.end(), history_.txn_of(op));
    const std::pair own(!named, tried_[op]);
    if (least != kNone && rank <= own) continue;
    least = op;
    rank = own;
  }
  if (least == kNone || left_ == 0 || budget_.exhausted_now()) return false;
  take_rows(least, order);
  return true;
}

// An order of the history with these rows; if there is none, the transactions that say so.
std::optional<Order> AggregateOrders::order_given(std::vector<TxnId>& blamed) {
  blamed.clear();
  if (left_ == 0 || budget_.exhausted_now()) return std::nullopt;
  --left_;
  const Result<History> copy = with_version_sets(history_, rows_);
  if (!copy.ok()) return std::nullopt;
  CheckOptions options = options_;
  options.levels = {level_};
  options.expected_order.reset();
  options.progress = {};
  options.budget = budget_.within(budget_.left() / 4);
  CheckResult result = decide_levels(*copy, options);
  const Verdict* verdict = result.find(level_);
  if (verdict == nullptr || verdict->outcome == Outcome::unknown) return std::nullopt;
  Certificate& certificate = result.certificates[verdict->certificate];
  if (verdict->outcome == Outcome::satisfied) return std::move(certificate.order);
  blamed = transactions_of(*copy, certificate);
  return std::nullopt;
}

}  // namespace

std::optional<Order> order_with_aggregates(const History& history, LevelId level, const Order* base,
                                           const CheckOptions& options, Budget& budget) {
  return AggregateOrders(history, level, options, budget).find(base);
}

}  // namespace assay::internal
