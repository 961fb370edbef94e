// Linearizability of one key by search: for values that were written more than once, keys that were
// removed, failed operations that zones.cc leaves open. The question is NP-complete.
//
//   w(x,1) [0,9]   w(x,2) [1,9]   w(x,1) [2,9]   r(x,2) [3,4]   r(x,1) [5,6]
//
// Go through requests and responses in the order of time. At a request the operation may take
// effect now, if what it returned fits the state; at the response of one that did not yet, the last
// decision was wrong. Wing and Gong (1993); Lowe (2017) added the memory: which operations took
// effect, and the state they left, is all that matters, and no such situation is entered twice.
//
// What keeps the tree small:
//   - an operation that changes nothing takes effect as soon as it fits; that only frees others
//   - of operations of unknown outcome that do the same, the earliest takes effect first
//   - values that nobody reads or compares with are all one state
//
// Situations are remembered by a 128-bit hash. Two that collide could make a yes a no; but the no
// is verified by other means. Cost: exponential in the operations that overlap, at worst.

#include "levels/linear_search.h"

#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "levels/failed_operations.h"
#include "levels/situation_set.h"

namespace assay {
namespace {

class Search {
 public:
  Search(const History& history, const OperationTimes& times, std::span<const TxnId> certain,
         std::span<const TxnId> possible, Budget& budget)
      : history_(history), times_(times), budget_(budget) {
    collect(certain, possible);
    enter_times();
  }

  SearchResult run() {
    SearchResult result;
    uint32_t entry = next_[kHead];
    remember();
    while (left_ > 0) {
      if (budget_.exhausted() || seen_.size() > Exhausted::kMostSituations) {
        result.reason = budget_.reason();
        if (result.reason.empty())
          result.reason = {UnknownCause::effort, "too many orders of operations on one key"};
        return result;
      }
      if (const uint32_t free = harmless(); free != kNone) {
        take(free, false);
        entry = next_[kHead];
        continue;
      }
      entry = candidate(entry);
      if (entry != kNone) {
        take(entry_op_[entry], true);
        entry = remember() ? next_[kHead] : back();
      } else {
        entry = back();
      }
      if (entry == kNone && left_ > 0) {
        result.outcome = Outcome::violated;
        result.until = ops_[until_].txn;
        return result;
      }
    }
    result.outcome = Outcome::satisfied;
    for (const Taken& t : taken_) result.sequence.push_back(ops_[t.op].txn);
    return result;
  }

 private:
  static constexpr uint32_t kHead = 0;

  struct Op {
    TxnId txn;
    bool certain;
    Operation operation;
    VersionId expected;        // cas
    uint32_t state = kNone;    // it leaves; kNone: it changes nothing
    uint32_t twins = kNone;    // operations of unknown outcome that do the same
    uint32_t among_twins = 0;  // the how manieth of them
    uint32_t call = kNone, reply = kNone;
  };
  struct Content {
    VersionId version;  // kNone: the initial value
    bool removed;
  };
  struct Taken {
    uint32_t op;
    uint32_t state;  // before
    bool chosen;     // there was a choice
  };

  void collect(std::span<const TxnId> certain, std::span<const TxnId> possible) {
    contents_.push_back({kNone, false});
    for (const TxnId t : certain) add(t, true);
    for (const TxnId t : possible) add(t, false);
    for (const Op& op : ops_) {
      if (op.operation.kind == OpKind::read) looked_for_.insert(op.operation.version);
      if (op.operation.kind == OpKind::cas) looked_for_.insert(op.expected);
    }
    std::unordered_map<uint64_t, uint32_t> states;
    std::map<std::tuple<OpKind, VersionId, uint32_t>, uint32_t> twins;
    for (Op& op : ops_) {
      if (!installs_version(op.operation)) continue;
      op.state = state_of(op, states);
      if (op.certain) continue;
      const auto what = std::tuple(op.operation.kind, op.expected, op.state);
      const auto [it, fresh] = twins.emplace(what, twins_taken_.size());
      if (fresh) {
        twins_taken_.push_back(0);
        twin_count_.push_back(0);
      }
      op.twins = it->second;
    }
  }

  void add(TxnId t, bool certain) {
    const OpId i = history_.first_op(t);
    Op op{};
    op.txn = t;
    op.certain = certain;
    op.operation = history_.op(i);
    op.expected = op.operation.kind == OpKind::cas ? history_.operands(i)[0] : kNone;
    op.state = op.twins = op.call = op.reply = kNone;
    ops_.push_back(op);
    left_ += certain;
  }

  uint32_t state_of(const Op& op, std::unordered_map<uint64_t, uint32_t>& states) {
    const bool removed = op.operation.kind == OpKind::remove;
    const bool null = history_.version_value(op.operation.version).is_null();
    const bool plain = !removed && !null && !looked_for_.contains(op.operation.version);
    const uint64_t name = plain ? ~uint64_t{0} : uint64_t{op.operation.version} << 1 | removed;
    const auto [it, fresh] = states.emplace(name, contents_.size());
    if (fresh) contents_.push_back({op.operation.version, removed});
    return it->second;
  }

  // The requests and responses as one list in the order of time, requests first at equal times.
  void enter_times() {
    struct Moment {
      int64_t time;
      bool reply;
      uint32_t op;
    };
    std::vector<Moment> moments;
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      moments.push_back({times_[ops_[i].txn].begin, false, i});
      if (ops_[i].certain) moments.push_back({times_[ops_[i].txn].end, true, i});
    }
    std::stable_sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
      return a.time != b.time ? a.time < b.time : a.reply < b.reply;
    });
    entry_op_.assign(1, kNone);
    is_reply_.assign(1, 0);
    for (const Moment& m : moments) {
      const auto entry = static_cast<uint32_t>(entry_op_.size());
      Op& op = ops_[m.op];
      (m.reply ? op.reply : op.call) = entry;
      if (!m.reply && op.twins != kNone) op.among_twins = twin_count_[op.twins]++;
      entry_op_.push_back(m.op);
      is_reply_.push_back(m.reply);
    }
    next_.resize(entry_op_.size());
    previous_.resize(entry_op_.size());
    for (uint32_t e = 0; e < next_.size(); ++e) {
      next_[e] = e + 1 < next_.size() ? e + 1 : kNone;
      previous_[e] = e - 1;
    }
  }

  void unlink(uint32_t e) {
    next_[previous_[e]] = next_[e];
    if (next_[e] != kNone) previous_[next_[e]] = previous_[e];
  }
  void link(uint32_t e) {
    next_[previous_[e]] = e;
    if (next_[e] != kNone) previous_[next_[e]] = e;
  }

  // Whether the operation returned what it would in this state.
  bool fits(const Op& op) const {
    const Content& now = contents_[state_];
    switch (op.operation.kind) {
      case OpKind::read: {
        const VersionId v = op.operation.version;
        if (now.version == v) return true;
        if (now.version == kNone) return history_.is_initial(v);
        return now.removed && history_.version_value(v).is_null();
      }
      case OpKind::cas:
      case OpKind::insert:
        return would_take_effect(history_, op.operation, op.expected, now.version, now.removed) ==
               op.operation.effect;
      default:
        return true;
    }
  }

  // An operation under way that changes nothing and fits.
  uint32_t harmless() const {
    for (uint32_t e = next_[kHead]; e != kNone && !is_reply_[e]; e = next_[e]) {
      const Op& op = ops_[entry_op_[e]];
      if (op.certain && op.state == kNone && fits(op)) return entry_op_[e];
    }
    return kNone;
  }

  // The next request from `e` on, before any response, of an operation that may take effect now.
  uint32_t candidate(uint32_t e) {
    for (; e != kNone && !is_reply_[e]; e = next_[e]) {
      const Op& op = ops_[entry_op_[e]];
      const bool turn = op.certain || op.among_twins == twins_taken_[op.twins];
      if (op.state != kNone && turn && fits(op)) return e;
    }
    if (e != kNone && (until_ == kNone || e > ops_[until_].reply)) until_ = entry_op_[e];
    return kNone;
  }

  void take(uint32_t op, bool chosen) {
    taken_.push_back({op, state_, chosen});
    const Op& o = ops_[op];
    if (o.state != kNone) state_ = o.state;
    unlink(o.call);
    if (o.certain) unlink(o.reply);
    left_ -= o.certain;
    if (!o.certain) ++twins_taken_[o.twins];
    toggle(op);
  }

  // Takes the last choice back, and what followed from it; gives the request to go on from.
  uint32_t back() {
    while (!taken_.empty()) {
      const Taken last = taken_.back();
      taken_.pop_back();
      const Op& o = ops_[last.op];
      toggle(last.op);
      if (!o.certain) --twins_taken_[o.twins];
      left_ += o.certain;
      if (o.certain) link(o.reply);
      link(o.call);
      state_ = last.state;
      if (!last.chosen) continue;
      // Behind the choice; where that ends at a response, candidate() sees to it.
      if (next_[o.call] != kNone) return next_[o.call];
    }
    return kNone;
  }

  void toggle(uint32_t op) {
    taken_hash_.a ^= mix64(2 * uint64_t{op});
    taken_hash_.b ^= mix64(2 * uint64_t{op} + 1);
  }
  // False if the situation was entered before.
  bool remember() {
    const uint64_t state = mix64(~uint64_t{state_});
    return seen_.insert({taken_hash_.a ^ state, taken_hash_.b + state}, budget_);
  }

  const History& history_;
  const OperationTimes& times_;
  Budget& budget_;
  std::vector<Op> ops_;
  std::vector<Content> contents_;  // by state
  std::unordered_set<VersionId> looked_for_;
  std::vector<uint32_t> twins_taken_, twin_count_;
  std::vector<uint32_t> entry_op_, next_, previous_;  // per entry, the first being the head
  std::vector<uint8_t> is_reply_;
  std::vector<Taken> taken_;
  uint32_t state_ = 0;
  uint32_t until_ = kNone;
  size_t left_ = 0;  // certain operations that have not taken effect
  Situation taken_hash_;
  SituationSet seen_;
};

}  // namespace

SearchResult search_linearization(const History& history, const OperationTimes& times,
                                  std::span<const TxnId> certain, std::span<const TxnId> possible,
                                  Budget& budget) {
  return Search(history, times, certain, possible, budget).run();
}

}  // namespace assay
