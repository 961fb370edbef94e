// Linearizability is local: a history is linearizable iff the operations on each key are (Herlihy
// and Wing, 1990).
//
//   x: w(x,1) [0,9]  r(x,1) [2,3]         y: w(y,1) [1,4]  r(y,null) [5,6]
//
// x is linearizable, y is not, so the whole is not. Each key is decided in the cheapest way that
// works:
//
//   zones           every read is matched to one write                    zones.cc
//   intervals       a read returned what the key did not hold then,        value_intervals.cc
//                   whichever operation wrote it
//   linear search   a value was written twice, a key was removed,         linear_search.cc
//                   a failed operation fits nowhere in the first order
//
// The orders of the keys are merged by time: each operation takes effect at the earliest instant
// that those before it on its key leave, and instants are compared across keys. At equal instants
// any order of the keys respects the clock, but sessions may still need one. If the orders found do
// not respect sessions, orders are looked for once more as if each operation had ended before its
// session began the next.
//
// Operations of unknown outcome that were read from took effect at some time after their request.
// One that was not read from never changes the result of zones.cc; the search may use it to explain
// why a comparison failed.
//
// Cost: O(n log n) where zones decide.

#include "levels/linearizable.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/sort_by.h"
#include "graph/digraph.h"
#include "history/accesses.h"
#include "levels/linear_search.h"
#include "levels/value_intervals.h"
#include "levels/zones.h"

namespace assay::internal {
namespace {

bool one_operation(const History& history, TxnId t) {
  if (history.end_op(t) - history.first_op(t) != 1) return false;
  const Operation op = history.op(history.first_op(t));
  return !is_range(op) && !is_list_operation(op);
}

bool writes_something(const History& history, TxnId t) {
  for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
    if (installs_version(history.op(i))) return true;
  }
  return false;
}

class KeyByKey {
 public:
  KeyByKey(const Problem& problem, OperationTimes times, const SpeedUps& speed_ups, Stages& stages,
           Budget& budget)
      : history_(*problem.history),
        problem_(problem),
        speed_ups_(speed_ups),
        stages_(stages),
        budget_(budget),
        times_(std::move(times)) {}

  Judgement decide() {
    look_at_operations();
    {
      const auto timer = stages_.time("zones");
      Zones zones(problem_, times_);
      for (KeyId key = 0; key < history_.key_count() && !done_; ++key) decide_key(zones, key);
    }
    if (!done_) merge();
    return std::move(judgement_);
  }

 private:
  void look_at_operations() {
    failed_.resize(history_.key_count());
    searched_.assign(history_.key_count(), !speed_ups_.has(SpeedUp::zones));
    for (const OpId i : problem_.unresolved) {
      const Operation op = history_.op(i);
      if (op.effect) {
        searched_[op.key] = true;
      } else {
        failed_[op.key].push_back(history_.txn_of(i));
      }
    }
    // An insert that follows a written null found the key absent, too.
    for (WriteId w = 0; w < problem_.writes.size(); ++w) {
      if (history_.version_value(problem_.writes.version[w]).is_null())
        searched_[problem_.writes.key[w]] = true;
    }
  }

  // Decides the operations on one key: what refutes the level for them refutes it for the whole.
  void decide_key(Zones& zones, KeyId key) {
    if (budget_.exhausted_now()) return conclude(Judgement::unknown(budget_.reason()));
    Judgement found;
    if (!searched_[key]) found = zones.decide(key, failed_[key]);
    if (found.outcome() == Outcome::unknown) found = search(key);
    if (found.outcome() != Outcome::satisfied) return conclude(std::move(found));
    append(found.certificate.order.events);
  }

  Judgement search(KeyId key) {
    stages_.count("keys searched", 1);
    if (by_key_.rows() == 0) index_operations();
    if (speed_ups_.has(SpeedUp::zones))
      if (std::optional<Proof> proof =
              refute_by_intervals(history_, times_, by_key_[key], possible_[key]))
        return Judgement::violated(std::move(*proof));
    return search_linearization(history_, times_, by_key_[key], possible_[key], speed_ups_,
                                budget_);
  }

  // Collects the operations of each key, for searching it.
  void index_operations() {
    const auto collect = [&](auto belongs) {
      return collect_rows<TxnId>(history_.key_count(), [&](auto add) {
        for (TxnId t = 0; t < history_.txn_count(); ++t) {
          if (history_.status(t) == TxnStatus::aborted || !one_operation(history_, t)) continue;
          const Operation op = history_.op(history_.first_op(t));
          if (belongs(history_.status(t) == TxnStatus::committed, op)) add(op.key, t);
        }
      });
    };
    by_key_ = collect([](bool certain, const Operation&) { return certain; });
    possible_ =
        collect([](bool certain, const Operation& op) { return !certain && installs_version(op); });
  }

  void append(const std::vector<TxnId>& sequence) {
    int64_t now = std::numeric_limits<int64_t>::min();
    for (const TxnId t : sequence) {
      now = std::max(now, times_[t].begin);
      instants_.push_back({now, t});
    }
  }

  // Merges the orders of the keys. If operations of one session touch in time, and the orders found
  // for the keys disagree with the session, nothing is concluded: a search of the whole history may
  // still find an order.
  void merge() {
    const auto timer = stages_.time("merge");
    stable_sort_by(instants_, [](const Instant& i) { return i.time; });
    for (size_t begin = 0, end = 0; begin < instants_.size(); begin = end) {
      while (end < instants_.size() && instants_[end].time == instants_[begin].time) ++end;
      if (end - begin > 1 && !break_tie(begin, end)) return;
    }
    if (!follows_sessions()) return;
    Order order;
    for (const Instant& instant : instants_) order.events.push_back(instant.txn);
    judgement_ = Judgement::satisfied(std::move(order));
  }

  // Puts operations at the same instant into an order that sessions allow; each key keeps its own
  // order.
  bool break_tie(size_t begin, size_t end) {
    const auto n = static_cast<uint32_t>(end - begin);
    std::vector<uint32_t> by_key(n);
    std::iota(by_key.begin(), by_key.end(), 0u);
    std::vector<uint32_t> by_session = by_key;
    const auto txn = [&](uint32_t i) { return instants_[begin + i].txn; };
    const auto key = [&](uint32_t i) { return history_.op(history_.first_op(txn(i))).key; };
    stable_sort_by(by_key, key);
    stable_sort_by(by_session, [&](uint32_t i) {
      return pack(history_.session(txn(i)), history_.position(txn(i)));
    });
    std::vector<Arc> arcs;
    uint32_t last = kNone;  // nothing waits for an operation of unknown outcome
    for (const uint32_t i : by_session) {
      if (last != kNone && history_.session(txn(last)) == history_.session(txn(i)))
        arcs.push_back({last, i});
      if (history_.status(txn(i)) == TxnStatus::committed) last = i;
    }
    if (arcs.empty()) return true;
    for (uint32_t i = 1; i < n; ++i) {
      if (key(by_key[i - 1]) == key(by_key[i])) arcs.push_back({by_key[i - 1], by_key[i]});
    }
    const std::vector<Vertex> order = topological_order(Digraph(n, arcs));
    if (order.size() < n) return false;
    std::vector<Instant> sorted;
    for (const Vertex v : order) sorted.push_back(instants_[begin + v]);
    std::copy(sorted.begin(), sorted.end(), instants_.begin() + static_cast<std::ptrdiff_t>(begin));
    return true;
  }

  // Whether the merged order respects sessions. The clock makes sure that it does, unless one
  // operation began when the one before it ended, or its begin is not known.
  bool follows_sessions() const {
    std::vector<uint32_t> farthest(history_.session_count(), 0);
    return std::all_of(instants_.begin(), instants_.end(), [&](const Instant& i) {
      const uint32_t position = history_.position(i.txn);
      uint32_t& reached = farthest[history_.session(i.txn)];
      const bool late = position < reached && history_.status(i.txn) == TxnStatus::committed;
      reached = std::max(reached, position);
      return !late;
    });
  }

  void conclude(Judgement found) {
    judgement_ = std::move(found);
    done_ = true;
  }

  struct Instant {
    int64_t time;
    TxnId txn;
  };

  const History& history_;
  const Problem& problem_;
  const SpeedUps& speed_ups_;
  Stages& stages_;
  Budget& budget_;
  OperationTimes times_;
  std::vector<std::vector<TxnId>> failed_;  // indexed by key: operations that did not take effect
  std::vector<bool> searched_;              // indexed by key: zones cannot decide it
  Rows<TxnId> by_key_, possible_;           // for the search
  std::vector<Instant> instants_;
  Judgement judgement_;
  bool done_ = false;
};

}  // namespace

bool decidable_by_key(const Problem& problem) {
  const History& history = *problem.history;
  if (!history.fully_timed() || problem.has_lists || !history.known_orders().empty()) return false;
  for (TxnId t = 0; t < history.txn_count(); ++t) {
    const bool counts = problem.node_of(t) != kNone;
    const bool may_count = history.status(t) == TxnStatus::unknown && writes_something(history, t);
    if ((counts || may_count) && !one_operation(history, t)) return false;
  }
  return true;
}

Judgement decide_by_key(const Problem& problem, const SpeedUps& speed_ups, Stages& stages,
                        Budget& budget) {
  OperationTimes times(*problem.history);
  Judgement found = KeyByKey(problem, times, speed_ups, stages, budget).decide();
  const bool for_sessions = found.outcome() == Outcome::unknown && found.reason.empty();
  if (!for_sessions || budget.exhausted_now()) return found;
  times.part_sessions(*problem.history);
  Judgement parted = KeyByKey(problem, std::move(times), speed_ups, stages, budget).decide();
  return parted.outcome() == Outcome::satisfied ? parted : found;
}

}  // namespace assay::internal
