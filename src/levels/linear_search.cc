// Linearizability of one key by search: for values that were written more than once, keys that were
// removed, and failed operations that zones.cc leaves open. The question is NP-complete.
//
//   w(x,1) [0,9]   w(x,2) [1,9]   w(x,1) [2,9]   r(x,2) [3,4]   r(x,1) [5,6]
//
// The search goes through requests and responses in the order of time. At a request the operation
// may take effect now, if its result fits the state; at the response of one that has not yet taken
// effect, the last decision was wrong. Wing and Gong (1993); Lowe (2017) added the memory: which
// operations took effect, and the state they left, is all that matters, and no such situation is
// entered twice.
//
// Most histories that are linearizable are put in order by lazy_search.cc before this search
// begins, and by key_beam.cc where values were written again and again. What keeps its tree small:
//   - an operation that changes nothing takes effect as soon as it fits; that only frees others
//   - of operations under way that do the same (leave the same, and for a compare-and-set expect
//     the same), the one whose response comes first takes effect first: if another one did, the two
//     could change places. Operations of unknown outcome, which have no response, come after the
//     others, the earliest request first
//   - values that no operation reads or compares with are all one state
//
// So the numbers of operations of each kind nearly determine what took effect, and with few values
// there are few situations, however many operations overlap. Tried first: if a read has to respond
// next, the writes of the value that it returned; then the operation that has to respond first.
//
// Situations are stored as 128-bit hashes. A collision could turn satisfied into violated; but
// violations are verified by other means. Cost: exponential in the operations that overlap, at
// worst.

#include "levels/linear_search.h"

#include <algorithm>

#include "base/hash.h"
#include "levels/key_beam.h"
#include "levels/key_operations.h"
#include "levels/lazy_search.h"
#include "levels/situation_set.h"

namespace assay::internal {
namespace {

class LinearSearch {
 public:
  LinearSearch(KeyOperations& ops, Budget& budget)
      : ops_(ops), budget_(budget), first_twin_(ops.twins(), kNone) {}

  Judgement run() {
    remember();
    for (bool fresh = true; ops_.left() > 0;) {
      if (budget_.exhausted() || seen_.size() > Exhausted::kMostSituations) {
        return Judgement::unknown(why_open());
      }
      if (fresh) {
        if (const uint32_t free = harmless(); free != kNone) {
          take(free);
          continue;
        }
        open_choice();
      }
      const uint32_t next = next_alternative();
      if (next == kNone) {
        return Judgement::violated(Exhausted{ops_.key(), ops_.op(until_).txn});
      }
      take(next);
      fresh = remember();
    }
    Order order;
    for (const Taken& t : taken_) order.events.push_back(ops_.op(t.op).txn);
    return Judgement::satisfied(std::move(order));
  }

 private:
  using Op = KeyOperations::Op;
  struct Taken {
    uint32_t op;
    uint32_t state;  // the state before
  };
  // What may take effect in a situation: the last entries of alternatives_; those before `next` are
  // still to be tried.
  struct Choice {
    size_t taken;  // how many operations had taken effect
    size_t first, next;
  };

  // An operation under way that changes nothing and fits; kNone if there is none.
  uint32_t harmless() const {
    uint32_t found = kNone;
    ops_.each_open([&](uint32_t op) {
      const Op& o = ops_.op(op);
      if (o.certain && o.state == kNone && ops_.fits(o, state_)) found = op;
      return found == kNone;
    });
    return found;
  }

  // Lists the operations under way that may take effect now; the first to try comes last.
  void open_choice() {
    const size_t first = alternatives_.size();
    const uint32_t due = ops_.each_open([&](uint32_t op) {
      const Op& o = ops_.op(op);
      if (o.state == kNone || !ops_.fits(o, state_)) return true;
      uint32_t& twin = first_twin_[o.twins];
      if (twin == kNone) alternatives_.push_back(o.twins);
      if (twin == kNone || KeyOperations::goes_first(o, ops_.op(twin))) twin = op;
      return true;
    });
    if (due != kNone && (until_ == kNone || ops_.op(due).reply > ops_.op(until_).reply))
      until_ = due;
    for (size_t i = first; i < alternatives_.size(); ++i) {
      const uint32_t twins = alternatives_[i];
      alternatives_[i] = first_twin_[twins];
      first_twin_[twins] = kNone;
    }
    const uint32_t wanted = due == kNone ? kNone : ops_.wanted_by(ops_.op(due));
    std::sort(alternatives_.begin() + static_cast<std::ptrdiff_t>(first), alternatives_.end(),
              [&](uint32_t a, uint32_t b) {
                const Op &x = ops_.op(a), &y = ops_.op(b);
                const bool x_wanted = x.state == wanted, y_wanted = y.state == wanted;
                return x_wanted != y_wanted ? y_wanted : KeyOperations::goes_first(y, x);
              });
    choices_.push_back({taken_.size(), first, alternatives_.size()});
  }

  // Goes back to the last choice that has an alternative left, and returns that; kNone if there is
  // none.
  uint32_t next_alternative() {
    while (!choices_.empty()) {
      Choice& last = choices_.back();
      while (taken_.size() > last.taken) take_back();
      if (last.next > last.first) return alternatives_[--last.next];
      alternatives_.resize(last.first);
      choices_.pop_back();
    }
    return kNone;
  }

  void take(uint32_t op) {
    taken_.push_back({op, state_});
    if (ops_.op(op).state != kNone) state_ = ops_.op(op).state;
    ops_.take(op);
  }
  void take_back() {
    ops_.take_back(taken_.back().op);
    state_ = taken_.back().state;
    taken_.pop_back();
  }

  // Returns false if the situation was entered before.
  bool remember() {
    const uint64_t state = mix64(~uint64_t{state_});
    const Situation taken = ops_.taken();
    return seen_.insert({taken.a ^ state, taken.b + state}, budget_);
  }

  Unknown why_open() const {
    Unknown why = budget_.reason();
    if (why.empty()) why = {UnknownCause::effort, "too many orders of operations on one key"};
    if (until_ != kNone) why.detail = ops_.progress(until_) + ": " + why.detail;
    return why;
  }

  KeyOperations& ops_;
  Budget& budget_;
  std::vector<uint32_t> first_twin_;  // scratch: indexed by number of operations with the same
                                      // effect, the first of them
  std::vector<Taken> taken_;
  std::vector<Choice> choices_;
  std::vector<uint32_t> alternatives_;  // operations
  uint32_t state_ = 0;
  uint32_t until_ = kNone;  // where the search got furthest: the operation that had to respond
  SituationSet seen_;
};

}  // namespace

Judgement search_linearization(const History& history, const OperationTimes& times,
                               std::span<const TxnId> certain, std::span<const TxnId> possible,
                               const SpeedUps& speed_ups, Budget& budget) {
  KeyOperations ops(history, times, certain, possible);
  Judgement found = search_lazily(ops, budget);
  if (found.outcome() == Outcome::satisfied || budget.exhausted()) return found;
  if (speed_ups.has(SpeedUp::value_beam)) found = search_by_beam(ops, budget);
  if (found.outcome() == Outcome::satisfied || budget.exhausted()) return found;
  return LinearSearch(ops, budget).run();
}

}  // namespace assay::internal
