// A history satisfies a level with one event per transaction if its transactions have an order in
// which every read returns the state of its key. A state is a value: to see that a read returns it,
// the writer need not be known. So transactions take effect in the order in which they ended, each
// as soon as possible. This uses only the columns of the history:
//
//   a transaction waits until its keys hold what it reads; a write waits while others are still to
//   read the value that it replaces; a transaction waits for the one before it in its session, and
//   for those that ended before it began.
//
//   s1: { w(x,1) } until 10   s2: { r(x,null) } from 5 until 12     s1 ends first and waits: s2
//                                                                   still has to read null
//
// Each wait is for one thing, and a waiting transaction is examined again when that has happened.
// If all take effect, their order is a proof, which the verifier replays. If some still wait in the
// end, another order may do, or none: nothing is known. The history is then matched (problem.h) and
// scheduled anew (schedule.cc), which knows the writers of versions and can weigh one order against
// another.
//
// If two writers of a key overlap and neither read it, the order of their ends may be wrong. That
// shows when a transaction that began after the second had ended reads the value of the first. Then
// all transactions that took effect since the first are undone and tried again, and the first waits
// for the second. Few are undone: as many as take effect while a transaction is under way.
//
// At a level without real time this is tried first; if it finds no order, it is tried again without
// waiting for those that ended before.
//
// If a value was written twice to a key, or may also be the initial one, this method is not used:
// it may matter which of the writes was read, and duplicates are reported.
//
// Cost: two passes over the operations, and one more for each wait; a sort by time.

#include "infer/replay_by_value.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/sort_by.h"
#include "history/accesses.h"

namespace assay::internal {
namespace {

// The state of keys as transactions take effect, and the number of remaining readers.
class HeldValues {
 public:
  explicit HeldValues(const History& history)
      : h_(history),
        keys_(history.key_count()),
        versions_(history.version_count()),
        takes_effect_(history.txn_count(), false) {}

  // Counts readers. False if a single transaction shows that values do not explain it, or if a
  // value does not identify its writer.
  bool prepare() { return look_at_writes() && look_at_txns() && look_at_versions(); }

  // Whether the transaction committed, or its outcome is unknown and it was read.
  bool happened(TxnId t) const { return h_.status(t) == TxnStatus::committed || takes_effect_[t]; }

  // What a transaction waits for: `held`, until its key holds this version, or `read`, until all
  // others have read this version; kNone if it waits for nothing.
  struct Wait {
    VersionId held = kNone, read = kNone;
  };
  // If `behind` is given, it gets the writers of all versions that others have yet to read; kNone
  // for the initial version.
  Wait wait_of(TxnId t, std::vector<TxnId>* behind = nullptr) {
    Wait wait;
    attempt_ = attempts_++;
    wait.held = look(t, false);
    if (wait.held != kNone) return wait;
    for (const KeyId k : writes_) {
      const Key& key = keys_[k];
      const uint32_t own = key.read_by == attempt_ ? 1 : 0;
      if (key.current == kNone || versions_[key.current].readers <= own) continue;
      if (wait.read == kNone) wait.read = key.current;
      if (behind != nullptr) behind->push_back(key.writer);
    }
    return wait;
  }
  // Notes that a transaction waits for the version.
  void await(const Wait& wait) {
    if (wait.held != kNone)
      versions_[wait.held].is_awaited = 1;
    else
      versions_[wait.read].is_held = 1;
  }

  // Lets the transaction of the last call of wait_of, which waits for nothing, take effect. Calls
  // `come` with each version that a transaction waits for.
  template <class Come>
  void take_effect(TxnId t, const Come& come) {
    for (const VersionId v : reads_) {
      Version& version = versions_[v];
      --version.readers;
      // The last reader may be the transaction that waits to replace the version.
      if (version.is_held && version.readers <= 1) {
        version.is_held = 0;
        come(v);
      }
    }
    if (replaced_.size() > 2 * kKeptReplaced)
      replaced_.erase(replaced_.begin(), replaced_.end() - kKeptReplaced);
    for (const KeyId k : writes_) {
      Key& key = keys_[k];
      replaced_.push_back({k, key.current, key.writer});
      key.current = key.written;
      key.writer = t;
      Version& version = versions_[key.written];
      if (version.is_awaited) {
        version.is_awaited = 0;
        come(key.written);
      }
    }
  }

  // Undoes the effect of `t`, the last that took effect. False if what it replaced is no longer
  // kept.
  bool undo(TxnId t) {
    attempt_ = attempts_++;
    look(t, true);
    if (replaced_.size() < writes_.size()) return false;
    for (size_t i = writes_.size(); i-- > 0; replaced_.pop_back()) {
      const Replaced& last = replaced_.back();
      keys_[last.key].current = last.version;
      keys_[last.key].writer = last.writer;
    }
    for (const VersionId v : reads_) ++versions_[v].readers;
    return true;
  }

 private:
  struct Key {
    uint32_t read_by = kNone, written_by = kNone;  // the attempt, or transaction, that last read or
                                                   // wrote the key
    VersionId read = kNone, written = kNone;       // and the version that it read or wrote
    VersionId current = kNone;                     // kNone: a version that no transaction reads
    TxnId writer = kNone;                          // of the current version; kNone: it is the
                                                   // initial state
  };
  struct Version {
    uint32_t readers : 28 = 0;  // transactions that have yet to read it
    uint32_t is_written : 1 = 0;
    uint32_t is_awaited : 1 = 0;  // a transaction waits until the key holds it
    uint32_t is_held : 1 = 0;     // a transaction waits until all have read it
  };
  static constexpr uint32_t kMostReaders = (1u << 28) - 1;
  // What a key held before a transaction took effect.
  struct Replaced {
    KeyId key;
    VersionId version;
    TxnId writer;
  };
  static constexpr size_t kKeptReplaced = size_t{1} << 14;

  // Returns false if two operations write the same value to a key.
  bool look_at_writes() {
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
        const Operation op = h_.op(i);
        if (!installs_version(op)) continue;
        Version& version = versions_[op.version];
        if (version.is_written) return false;
        version.is_written = 1;
        if (h_.status(t) == TxnStatus::unknown) unknown_writer_.emplace(op.version, t);
      }
    return true;
  }

  bool look_at_txns() {
    std::vector<TxnId> effective;  // of unknown outcome
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if (h_.status(t) == TxnStatus::committed && !count_reads(t, effective)) return false;
    for (size_t i = 0; i < effective.size(); ++i)
      if (!count_reads(effective[i], effective)) return false;
    return true;
  }

  // Adds the transactions of unknown outcome that `t` reads from.
  bool count_reads(TxnId t, std::vector<TxnId>& effective) {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      Key& key = keys_[op.key];
      if (installs_version(op)) {
        key.written_by = t;
        key.written = op.version;
        continue;
      }
      if (key.written_by == t || key.read_by == t) {
        if ((key.written_by == t ? key.written : key.read) != op.version) return false;
        continue;
      }
      key.read_by = t;
      key.read = op.version;
      Version& version = versions_[op.version];
      if (version.readers == kMostReaders) return false;
      ++version.readers;
      if (unknown_writer_.empty()) continue;
      const auto writer = unknown_writer_.find(op.version);
      if (writer == unknown_writer_.end() || takes_effect_[writer->second]) continue;
      takes_effect_[writer->second] = true;
      effective.push_back(writer->second);
    }
    return true;
  }

  // Puts initial values into their keys. False if a value was read that was never written, or that
  // was written and may also be initial.
  bool look_at_versions() {
    for (VersionId v = 0; v < versions_.size(); ++v) {
      const bool initial = h_.is_initial(v);
      if (initial == (versions_[v].is_written != 0) && (initial || versions_[v].readers > 0))
        return false;
      if (initial) keys_[h_.version_key(v)].current = v;
    }
    for (Key& key : keys_) key.read_by = key.written_by = kNone;
    return true;
  }

  // Collects what the transaction does to keys, in reads_ and writes_. Unless `happened`, stops at
  // a version that its key does not hold, and returns it.
  VersionId look(TxnId t, bool happened) {
    reads_.clear();
    writes_.clear();
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      Key& key = keys_[op.key];
      if (installs_version(op)) {
        if (key.written_by != attempt_) writes_.push_back(op.key);
        key.written_by = attempt_;
        key.written = op.version;
      } else if (key.written_by != attempt_ && key.read_by != attempt_) {
        if (key.current != op.version && !happened) return op.version;
        key.read_by = attempt_;
        reads_.push_back(op.version);
      }
    }
    return kNone;
  }

  const History& h_;
  std::vector<Key> keys_;
  std::vector<Version> versions_;
  std::unordered_map<VersionId, TxnId> unknown_writer_;  // by version
  std::vector<bool> takes_effect_;                       // indexed by transaction: its outcome is
                                                         // unknown, and it was read
  uint32_t attempts_ = 0, attempt_ = 0;
  std::vector<VersionId> reads_;    // the versions that the current transaction reads
  std::vector<KeyId> writes_;       // the keys that the current transaction writes
  std::vector<Replaced> replaced_;  // by the last transactions that took effect
};

class ReplayByValue {
 public:
  ReplayByValue(const History& history, bool real_time, Budget& budget)
      : h_(history),
        budget_(budget),
        real_time_(real_time),
        is_timed_(history.fully_timed()),
        patience_(32 + 2 * size_t{history.session_count()}),
        most_undone_(1024 + history.txn_count() / 4),
        values_(history) {}

  std::vector<TxnId> run() {
    if (!values_.prepare()) return {};
    propose();
    for (const TxnId t : proposal_) {
      if (budget_.exhausted()) return {};
      attempt(t);
      go_on();
      if (in_vain_ > patience_ && !turn_writers()) return {};
    }
    while (order_.size() < proposal_.size()) {
      const size_t undone = undone_;
      if (!turn_writers() || undone_ == undone) return {};
    }
    return std::move(order_);
  }

 private:
  static constexpr size_t kMostFruitless = 3;

  bool is_unknown(TxnId t) const { return h_.status(t) == TxnStatus::unknown; }

  // Proposes the transactions in the order of their ends, as far as these are known; otherwise in
  // the order of the file.
  void propose() {
    const uint32_t count = h_.txn_count();
    std::vector<Numbered> timed;
    timed.reserve(count);
    for (TxnId t = 0; t < count; ++t)
      if (values_.happened(t)) timed.push_back({moment(t), t});
    if (is_timed_) sort_numbered(timed);
    proposal_.reserve(timed.size());
    order_.reserve(timed.size());
    for (const auto& [time, t] : timed) proposal_.push_back(t);
    placed_.assign(count, false);
    before_.assign(count, kNone);
    for (SessionId s = 0; s < h_.session_count(); ++s) {
      TxnId last = kNone;
      for (const TxnId t : h_.session_txns(s)) {
        if (!values_.happened(t)) continue;
        before_[t] = last;
        // A later transaction of the session need not come after one whose outcome the client did
        // not learn.
        if (!is_unknown(t)) last = t;
      }
    }
  }

  // The time by which the transaction is proposed.
  int64_t moment(TxnId t) const {
    if (!is_timed_) return t;
    // When a transaction of unknown outcome took effect is not known, only that it had begun.
    return is_unknown(t) ? h_.begin_time(t).request : h_.end_time(t).response;
  }

  void attempt(TxnId t) {
    ++in_vain_;
    if (const TxnId first = first_before(t); first != kNone) {
      behind_[first].push_back(t);
      return;
    }
    const HeldValues::Wait wait = values_.wait_of(t);
    if (wait.held == kNone && wait.read == kNone) return take_effect(t);
    values_.await(wait);
    waiting_[wait.held != kNone ? wait.held : wait.read].push_back(t);
  }

  void take_effect(TxnId t) {
    values_.take_effect(t, [this](VersionId v) { wake(waiting_, v); });
    in_vain_ = fruitless_ = 0;
    placed_[t] = true;
    order_.push_back(t);
    wake(behind_, t);
  }

  void go_on() {
    while (!ready_.empty()) {
      const TxnId next = ready_.back();
      ready_.pop_back();
      if (!placed_[next]) attempt(next);
    }
  }

  // Waiting transactions by the number of what they wait for. A transaction that was undone, or
  // tried anew, may occur twice.
  using Waiting = std::unordered_map<uint32_t, std::vector<TxnId>>;

  void wake(Waiting& waiting, uint32_t number) {
    const auto entry = waiting.find(number);
    if (entry == waiting.end()) return;
    ready_.insert(ready_.end(), entry->second.begin(), entry->second.end());
    waiting.erase(entry);
  }

  bool waits_for_session(TxnId t) const { return before_[t] != kNone && !placed_[before_[t]]; }

  // A transaction that `t` has to come after and that has not taken effect; kNone if there is none.
  TxnId first_before(TxnId t) {
    if (waits_for_session(t)) return before_[t];
    if (const auto turned = after_.find(t); turned != after_.end())
      for (const TxnId first : turned->second)
        if (!placed_[first]) return first;
    pass_over_placed();
    if (!real_time_ || oldest_ == proposal_.size()) return kNone;
    const TxnId oldest = proposal_[oldest_];
    return oldest != t && h_.end_time(oldest).response < h_.begin_time(t).request ? oldest : kNone;
  }

  void pass_over_placed() {
    while (oldest_ < proposal_.size() &&
           (placed_[proposal_[oldest_]] || is_unknown(proposal_[oldest_])))
      ++oldest_;
  }

  // Of the oldest waiting transactions, one that waits for readers which may have to come after it
  // is put before the writers of the versions that these have yet to read. False if those writers
  // took effect too long ago, or if no such transaction was found too often in a row.
  bool turn_writers() {
    in_vain_ = 0;
    pass_over_placed();
    size_t looked_at = 0;
    for (size_t i = oldest_; i < proposal_.size() && looked_at < patience_; ++i) {
      const TxnId t = proposal_[i];
      if (placed_[t]) continue;
      ++looked_at;
      std::vector<TxnId> writers;
      if (waits_for_session(t) || values_.wait_of(t, &writers).read == kNone ||
          std::ranges::count(writers, kNone) > 0)
        continue;
      return put_before(t, writers);
    }
    return ++fruitless_ <= kMostFruitless;
  }

  bool put_before(TxnId t, const std::vector<TxnId>& writers) {
    for (const TxnId writer : writers) after_[writer].push_back(t);
    std::vector<TxnId> undone;
    while (std::ranges::any_of(writers, [&](TxnId w) { return placed_[w]; })) {
      if (undone_++ == most_undone_ || !values_.undo(order_.back())) return false;
      const TxnId last = order_.back();
      order_.pop_back();
      placed_[last] = false;
      undone.push_back(last);
      const auto at = std::ranges::lower_bound(proposal_, moment(last), {},
                                               [&](TxnId other) { return moment(other); });
      oldest_ = std::min(oldest_, static_cast<size_t>(at - proposal_.begin()));
    }
    ready_.push_back(t);
    ready_.insert(ready_.end(), undone.begin(), undone.end());
    go_on();
    return true;
  }

  const History& h_;
  Budget& budget_;
  const bool real_time_;  // whether transactions that ended before another began take effect before
                          // it
  const bool is_timed_;
  const size_t patience_;  // this many attempts in vain do not yet suggest a wrong order
  const size_t most_undone_;
  HeldValues values_;
  std::vector<TxnId> proposal_;
  size_t oldest_ = 0;          // index into the proposal: all before it have taken effect, or may
                               // do so later
  std::vector<TxnId> before_;  // the previous one in the session, or kNone
  std::vector<bool> placed_;   // whether it has taken effect
  Waiting behind_;             // by the transaction whose effect is awaited
  Waiting waiting_;            // by the version that is awaited
  Waiting after_;              // by writer: the writers that were found to come before it
  std::vector<TxnId> ready_;
  std::vector<TxnId> order_;
  size_t in_vain_ = 0;    // attempts since the last transaction took effect
  size_t fruitless_ = 0;  // how often there have been too many of them without any writers to turn
  size_t undone_ = 0;     // transactions undone so far
};

}  // namespace

bool may_replay_by_value(const History& history) {
  // Orders that are said to be complete may lack a version, about which the values say nothing.
  const bool states_orders =
      !history.known_orders().empty() || history.orders_complete_to() != Interval::kUnknown;
  if (history.states_versions() || states_orders || history.has_predicates() ||
      history.clock_drift() != 0)
    return false;
  for (OpId i = 0; i < history.op_count(); ++i)
    if (!is_read_or_write(history.op(i))) return false;
  return true;
}

std::vector<TxnId> order_by_value(const History& history, const LevelInfo& level, Budget& budget) {
  constexpr uint64_t kBytesAKey = 24, kBytesATxn = 36;
  if (!budget.has_room(sizeof(uint32_t) * uint64_t{history.version_count()} +
                       kBytesAKey * history.key_count() + kBytesATxn * history.txn_count()))
    return {};
  const bool asked = level.real_time != RealTime::none;
  if (asked || history.fully_timed()) {
    std::vector<TxnId> order = ReplayByValue(history, true, budget).run();
    if (asked || !order.empty()) return order;
  }
  return ReplayByValue(history, false, budget).run();
}

}  // namespace assay::internal
