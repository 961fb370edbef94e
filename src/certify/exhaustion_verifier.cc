#include "certify/exhaustion_verifier.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <set>
#include <vector>

#include "certify/operations.h"
#include "certify/real_time.h"
#include "certify/refusal.h"

namespace assay::internal::certify {
namespace {

struct Situation {
  State content;               // writer kNone: no read is stated to be from the writer
  std::vector<uint32_t> done;  // operations under way that have taken effect, ascending
  friend auto operator<=>(const Situation&, const Situation&) = default;
  bool has(uint32_t op) const { return std::binary_search(done.begin(), done.end(), op); }
};

struct KeyOp {
  TxnId txn;
  Access access;
  State left;        // by an operation that writes
  int64_t response;  // by when it must have taken effect; the greatest number if it need not
};

class Sweep {
 public:
  Sweep(const History& history, KeyId key) : history_(history), key_(key) {}

  // The transaction at whose response no situation is left; kNone if there is none.
  Result<TxnId> run() {
    if (Status s = collect(); !s.ok()) return s.error();
    Situation first;
    first.content = initial_state(history_, key_);
    std::set<Situation> situations = {first};
    for (const Moment& m : moments_) {
      if (!m.response) {
        open_.insert(std::upper_bound(open_.begin(), open_.end(), m.op), m.op);
        continue;
      }
      std::set<Situation> met, next;
      for (const Situation& s : situations)
        if (!complete(s, m.op, met, next))
          return too_much("there are too many orders of the operations on " + name() +
                          " to try them all");
      if (next.empty()) return ops_[m.op].txn;
      situations = std::move(next);
      std::erase(open_, m.op);
    }
    return TxnId{kNone};
  }

 private:
  struct Moment {
    int64_t time;
    bool response;
    uint32_t op;
    auto operator<=>(const Moment&) const = default;
  };

  std::string name() const { return history_.key(key_).to_string(); }

  Status collect() {
    for (TxnId t = 0; t < history_.txn_count(); ++t) {
      const bool certain = history_.status(t) == TxnStatus::committed;
      if (history_.status(t) == TxnStatus::aborted) continue;
      for (const Access& a : accesses(history_, t)) {
        if (certain && a.is_range())
          return refuse("transaction {} may see {} in a range query", history_.name(t), name());
        // An operation that only read, and is of unknown outcome, says nothing.
        if (a.key != key_ || (!certain && !a.writes())) continue;
        if (history_.end_op(t) - history_.first_op(t) != 1)
          return refuse("transaction {} has more than one operation, including one on {}",
                        history_.name(t), name());
        if (a.is_list()) return refuse("{} is a list", name());
        add(t, a);
      }
    }
    leave_contents();
    std::sort(moments_.begin(), moments_.end());
    return Ok{};
  }

  // Treats values that no operation names as one.
  void leave_contents() {
    std::set<VersionId> asked;
    std::set<TxnId> stated;
    for (const KeyOp& o : ops_) {
      if (o.access.seen != kNone) asked.insert(o.access.seen);
      stated.insert(stated_to_be_from(history_, o.access.op));
    }
    for (KeyOp& o : ops_) {
      if (!o.access.writes()) continue;
      o.left = state_after(stated.contains(o.txn) ? o.txn : kNone, o.access);
      if (!asked.contains(o.left.version) && !is_absent(history_, o.left))
        o.left.version = kUnnamed;
    }
  }

  void add(TxnId t, const Access& access) {
    const bool certain = history_.status(t) == TxnStatus::committed;
    const auto id = static_cast<uint32_t>(ops_.size());
    ops_.push_back({t, access, {}, std::numeric_limits<int64_t>::max()});
    moments_.push_back({time_of(history_, t, Side::read).request, false, id});
    const int64_t response = time_of(history_, t, Side::write).response;
    if (!certain || response == Interval::kUnknown) return;
    ops_[id].response = last_moment(response);
    moments_.push_back({ops_[id].response, true, id});
  }

  // The last moment by which a request need not come after the response, as clocks may drift apart.
  int64_t last_moment(int64_t response) const {
    const int64_t more = history_.clock_drift() > 0 ? history_.clock_drift() - 1 : 0;
    return response > Interval::kOpen - more ? Interval::kOpen : response + more;
  }

  // Whether the operation returns its result on this content.
  bool fits(const KeyOp& o, const State& content) const {
    return accepts(history_, o.access, content) && may_be_from(history_, content, o.access.op);
  }

  static void mark(Situation& s, uint32_t op) {
    s.done.insert(std::upper_bound(s.done.begin(), s.done.end(), op), op);
  }

  void let_harmless_take_effect(Situation& s) const {
    for (const uint32_t o : open_)
      if (!ops_[o].access.writes() && !s.has(o) && fits(ops_[o], s.content)) mark(s, o);
  }

  // Whether another operation that does the same and responds earlier is waiting.
  bool must_wait(uint32_t op, const Situation& s) const {
    const KeyOp& o = ops_[op];
    return std::any_of(open_.begin(), open_.end(), [&](uint32_t other) {
      const KeyOp& p = ops_[other];
      const bool sooner = p.response != o.response ? p.response < o.response : other < op;
      return sooner && p.access.writes() && p.access.accepts == o.access.accepts &&
             p.left == o.left && p.access.seen == o.access.seen && !s.has(other);
    });
  }

  // Adds every situation in which `op` has just taken effect, or had before. `met` are the
  // situations without `op` from which the search has already continued. False if there are too
  // many.
  bool complete(const Situation& from, uint32_t op, std::set<Situation>& met,
                std::set<Situation>& next) {
    std::vector<Situation> work;
    const auto enter = [&](Situation s) {
      let_harmless_take_effect(s);
      if (s.has(op)) {
        std::erase(s.done, op);
        next.insert(std::move(s));
      } else if (met.insert(s).second) {
        work.push_back(std::move(s));
      }
    };
    for (enter(from); !work.empty();) {
      const Situation s = std::move(work.back());
      work.pop_back();
      if (++situations_ > Exhausted::kMostSituations) return false;
      for (const uint32_t o : open_) {
        if (!ops_[o].access.writes() || s.has(o) || !fits(ops_[o], s.content) || must_wait(o, s))
          continue;
        Situation after = s;
        after.content = ops_[o].left;
        mark(after, o);
        enter(std::move(after));
      }
    }
    return true;
  }

  const History& history_;
  const KeyId key_;
  std::vector<KeyOp> ops_;
  std::vector<Moment> moments_;
  std::vector<uint32_t> open_;  // operations under way, in the order of their requests in the file
  size_t situations_ = 0;
};

}  // namespace

Status ExhaustionVerifier::supports(LevelId level) {
  if (level_info(level).real_time != RealTime::transactions)
    return refuse("the level does not order single operations by time");
  if (!history_.fully_timed())
    return refuse("the level needs the begin and end time of every committed transaction");
  return checked_.get([&] { return check(); });
}

Status ExhaustionVerifier::check() const {
  if (claim_.key >= history_.key_count()) return refuse("the history has no such key");
  Result<TxnId> stuck = Sweep(history_, claim_.key).run();
  if (!stuck.ok()) return stuck.error();
  if (*stuck == kNone)
    return refuse("the operations on {} can be ordered", history_.key(claim_.key).to_string());
  if (*stuck != claim_.until)
    return refuse("the operations on {} can be ordered until the response of {}, not that of {}",
                  history_.key(claim_.key).to_string(), history_.name(*stuck),
                  claim_.until < history_.txn_count() ? history_.name(claim_.until) : "none");
  return Ok{};
}

}  // namespace assay::internal::certify
