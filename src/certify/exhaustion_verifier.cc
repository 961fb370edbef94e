#include "certify/exhaustion_verifier.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <set>
#include <vector>

#include "certify/reads.h"
#include "certify/real_time.h"
#include "certify/refusal.h"
#include "certify/stated_sources.h"

namespace assay::internal::certify {
namespace {

constexpr VersionId kInitial = kNone;      // the value of every key
constexpr VersionId kUnasked = kNone - 1;  // what nobody asks for

struct Content {
  VersionId version = kInitial;
  bool removed = false;
  TxnId writer = kInitialTxn;  // kNone: somebody whom no read is stated to be from
  friend auto operator<=>(const Content&, const Content&) = default;
};

struct Situation {
  Content content;
  std::vector<uint32_t> done;  // operations under way that took effect, ascending
  friend auto operator<=>(const Situation&, const Situation&) = default;
  bool has(uint32_t op) const { return std::binary_search(done.begin(), done.end(), op); }
};

struct KeyOp {
  TxnId txn;
  Operation op;
  VersionId expected;  // compare-and-set
  TxnId stated;        // a read: it is stated to be from this one; else kNone
  Content left;        // by one that writes
  int64_t response;    // at which it must have taken effect; the greatest number if it need not
};

class Sweep {
 public:
  Sweep(const History& history, KeyId key) : history_(history), key_(key) {}

  // The transaction at whose response no situation is left; kNone if there is none such.
  Result<TxnId> run() {
    if (Status s = collect(); !s.ok()) return s.error();
    Situation first;
    first.content.version = history_.own_initial(key_);
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
                          " to go through them");
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
      for (OpId i = history_.first_op(t); i < history_.end_op(t); ++i) {
        const Operation op = history_.op(i);
        if (certain && op.kind == OpKind::range)
          return refuse("transaction {} may see {} in a range query", history_.name(t), name());
        // What only read, and is of unknown outcome, says nothing.
        if (op.key != key_ || (!certain && !writes(op))) continue;
        if (history_.end_op(t) - history_.first_op(t) != 1)
          return refuse("transaction {} is more than one operation, on {} among others",
                        history_.name(t), name());
        if (op.kind == OpKind::append || op.kind == OpKind::read_list)
          return refuse("{} is a list", name());
        add(t, i);
      }
    }
    leave_contents();
    std::sort(moments_.begin(), moments_.end());
    return Ok{};
  }

  // Values that nobody asks for are one.
  void leave_contents() {
    std::set<VersionId> asked;
    std::set<TxnId> stated;
    for (const KeyOp& o : ops_) {
      stated.insert(o.stated);
      if (o.op.kind == OpKind::read) asked.insert(o.op.version);
      if (o.op.kind == OpKind::cas) asked.insert(o.expected);
    }
    for (KeyOp& o : ops_) {
      o.left = {o.op.version, o.op.kind == OpKind::remove, stated.contains(o.txn) ? o.txn : kNone};
      if (!writes(o.op) || o.left.removed || asked.contains(o.op.version)) continue;
      if (!history_.version_value(o.op.version).is_null()) o.left.version = kUnasked;
    }
  }

  void add(TxnId t, OpId i) {
    const Operation op = history_.op(i);
    const VersionId expected = op.kind == OpKind::cas ? history_.operands(i)[0] : kNone;
    const TxnId stated = op.kind == OpKind::read ? stated_to_be_from(history_, i) : kNone;
    const bool certain = history_.status(t) == TxnStatus::committed;
    const auto id = static_cast<uint32_t>(ops_.size());
    ops_.push_back({t, op, expected, stated, {}, std::numeric_limits<int64_t>::max()});
    moments_.push_back({time_of(history_, t, Side::read).request, false, id});
    const int64_t response = time_of(history_, t, Side::write).response;
    if (!certain || response == Interval::kUnknown) return;
    ops_[id].response = last_moment(response);
    moments_.push_back({ops_[id].response, true, id});
  }

  // Where clocks drift apart, nothing that was asked for by then surely comes after the response.
  int64_t last_moment(int64_t response) const {
    const int64_t more = history_.clock_drift() > 0 ? history_.clock_drift() - 1 : 0;
    return response > Interval::kOpen - more ? Interval::kOpen : response + more;
  }

  bool shows(const Content& content, VersionId v) const {
    if (content.version == v) return true;
    if (content.version == kInitial) return history_.is_initial(v);
    return content.removed && history_.version_value(v).is_null();
  }
  bool absent(const Content& content) const {
    if (content.version == kInitial) return history_.initial().is_null();
    if (content.version == kUnasked) return false;
    return content.removed || history_.version_value(content.version).is_null();
  }

  // Whether the operation returns on this content what it did.
  bool fits(const KeyOp& o, const Content& content) const {
    switch (o.op.kind) {
      case OpKind::read:
        return shows(content, o.op.version) && (o.stated == kNone || o.stated == content.writer);
      case OpKind::cas:
        return shows(content, o.expected) == o.op.effect;
      case OpKind::insert:
        return absent(content) == o.op.effect;
      default:
        return true;
    }
  }

  static void mark(Situation& s, uint32_t op) {
    s.done.insert(std::upper_bound(s.done.begin(), s.done.end(), op), op);
  }

  void let_harmless_take_effect(Situation& s) const {
    for (const uint32_t o : open_)
      if (!writes(ops_[o].op) && !s.has(o) && fits(ops_[o], s.content)) mark(s, o);
  }

  // Another operation that does the same and responds earlier is waiting.
  bool must_wait(uint32_t op, const Situation& s) const {
    const KeyOp& o = ops_[op];
    return std::any_of(open_.begin(), open_.end(), [&](uint32_t other) {
      const KeyOp& p = ops_[other];
      const bool sooner = p.response != o.response ? p.response < o.response : other < op;
      return sooner && writes(p.op) && p.op.kind == o.op.kind && p.left == o.left &&
             p.expected == o.expected && !s.has(other);
    });
  }

  // Adds every situation in which `op` has just taken effect, or had before; `met` are those before
  // it, gone on from already. False if there are too many.
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
        if (!writes(ops_[o].op) || s.has(o) || !fits(ops_[o], s.content) || must_wait(o, s))
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
  std::vector<uint32_t> open_;  // under way, in the order of their requests in the file
  size_t situations_ = 0;
};

}  // namespace

Status ExhaustionVerifier::refutes(LevelId level) {
  const bool by_key = level == LevelId::strict_serializable || level == LevelId::linearizable;
  if (!by_key) return refuse("the level does not order single operations by time");
  if (!history_.fully_timed())
    return refuse("the level needs the begin and end time of every committed transaction");
  if (!checked_) checked_ = check();
  return *checked_;
}

Status ExhaustionVerifier::check() const {
  if (claim_.key >= history_.key_count()) return refuse("the history has no such key");
  Result<TxnId> stuck = Sweep(history_, claim_.key).run();
  if (!stuck.ok()) return stuck.error();
  if (*stuck == kNone)
    return refuse("the operations on {} can be put in order", history_.key(claim_.key).to_string());
  if (*stuck != claim_.until)
    return refuse("the operations on {} can be put in order until the response of {}, not of {}",
                  history_.key(claim_.key).to_string(), history_.name(*stuck),
                  claim_.until < history_.txn_count() ? history_.name(claim_.until) : "none");
  return Ok{};
}

}  // namespace assay::internal::certify
