// The database that the timestamps describe, one start or commit after the other, while the history
// is still being written.
//
//   A { w(x,1) }  start 1, commit 3        C { r(x,1) }  start 4
//   B { r(x,1) }  start 2
//
//   At 2 nothing was committed: B should not have seen A's 1. At 4 A was.
//
// Each key has its last committed version, and the transactions that have started and will write
// it; each transaction is checked when it starts and installed when it commits. This is the replay
// of levels/expected_order.h, with the same words for faults, but it goes on after a fault. If the
// same version is missed in favour of the same other value, that is reported once.
//
// A transaction of unknown outcome usually has no commit_ts. Its writes are kept in addition to the
// version of the key: a read of one of them is neither explained nor refuted. They stay until the
// key is written by a transaction that began when the unknown one was certainly over.
//
// Cost: two places in a heap for each transaction, and for each operation one look at its key.
// Memory: the keys that were touched, the transactions that are not replayed yet, and those kept.
// Source: Chronos and Aion (2504.01477).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "assay/check.h"
#include "assay/history.h"
#include "assay/level.h"
#include "history/accesses.h"
#include "history/held_value.h"

namespace assay::internal::watch {

struct TimestampSession;
struct TimestampKey;

// Lines of the history, with what their keys hold.
struct KeyedPiece {
  explicit KeyedPiece(std::shared_ptr<const History> h)
      : history(std::move(h)), keys(history->key_count(), nullptr) {}
  std::shared_ptr<const History> history;
  std::vector<TimestampKey*> keys;
};

// A transaction that the timestamps place.
struct Placed {
  std::shared_ptr<KeyedPiece> piece;
  TxnId txn = kNone;    // its number there
  uint64_t number = 0;  // in the order of lines
  uint64_t line = 0;
  TxnStatus status = TxnStatus::committed;
  int64_t begin = Interval::kUnknown,
          end = Interval::kOpen;  // by the clients' clock; it certainly ran between these
  int64_t start = Interval::kUnknown,
          commit = Interval::kUnknown;  // if it writes nothing: its start
  bool writes = false;
  bool missed_start = false;  // it was reported after its start had been replayed
  TimestampSession* session = nullptr;

  const History& history() const { return *piece->history; }
  std::string name() const { return history().name(txn); }
};
using PlacedTxn = std::shared_ptr<const Placed>;

struct TimestampSession {
  int64_t next = Interval::kUnknown;     // the earliest begin that may still be reported
  int64_t over = Interval::kUnknown;     // its reported transactions were not over before this
  int64_t next_ts = Interval::kUnknown;  // the earliest start that may still be reported
  PlacedTxn reported;                    // the last reported one that committed
  PlacedTxn last, open;                  // of those replayed: the last that started, and one that
                                         // has not committed yet
};

// A transaction of unknown outcome, or with meaningless timestamps: it may have committed at any
// time.
struct Unplaced {
  std::string name;
  int64_t over = Interval::kOpen;  // by then, on the clients' clock, it has committed or never does
  bool told = false;
};

struct TimestampVersion {
  HeldValue value{ValueView::null()};
  bool removed = false;
  // The writer; the line is 0 for the initial state.
  uint64_t number = 0, line = 0;
  int64_t begin = Interval::kUnknown, end = Interval::kUnknown;
  int64_t start = Interval::kUnknown, commit = Interval::kUnknown;

  bool is_initial() const { return line == 0; }
};

struct TimestampKey {
  struct Other {
    HeldValue value;
    bool removed;
    std::shared_ptr<Unplaced> writer;
  };
  TimestampVersion now;
  PlacedTxn writing;             // the transaction that has started and will write the key
  std::vector<Other> others;     // writes that may have been committed
  bool more_others = false;      // whether some of these are forgotten
  std::optional<uint64_t> told;  // the value that was reported as read instead of this version
};

struct TimestampFault {
  using Kind = OrderReplay::Fault;
  Kind kind = Kind::none;
  PlacedTxn txn, other;  // as in OrderReplay; for an operation there is no other
  OpId op = kNone;
  KeyId key = kNone;
  TimestampVersion stood;  // for an operation: the version that was there
};

class TimestampListener {
 public:
  virtual ~TimestampListener() = default;
  virtual void fault(const TimestampFault& fault) = 0;
  // The operation saw what a transaction without a place wrote; null: perhaps one that is
  // forgotten. Called once for each of these.
  virtual void saw_unplaced(const Placed& reader, OpId op, const Unplaced* writer) = 0;
};

class TimestampReplay {
 public:
  TimestampReplay(LevelId level, size_t keep, TimestampListener& listener)
      : level_(level_info(level)), keep_(keep), listener_(listener) {}

  // What the key of a piece holds; adds the key if needed.
  TimestampKey& key(KeyedPiece& piece, KeyId key);
  void add(PlacedTxn t);
  void add_unplaced(KeyedPiece& piece, TxnId txn, Unplaced u);
  // Replays everything before `time`.
  void advance(int64_t time);
  void finish();

  int64_t replayed() const { return replayed_; }
  uint64_t decided() const { return decided_; }  // number of transactions
  size_t waiting() const { return waiting_; }
  size_t kept() const { return kept_.size(); }
  size_t live_keys() const { return keys_.size(); }
  // The kept transaction that left the value that was read; null if there is none.
  PlacedTxn writer_of(const History& h, const Observation& seen) const;
  PlacedTxn find(uint64_t number) const;

 private:
  struct Event {
    int64_t time;
    enum class Rank : uint8_t { commit, instant, start } rank;
    bool write;
    PlacedTxn txn;
    bool operator<(const Event& other) const;  // whether it comes later, for a heap
  };

  using Found = std::optional<TimestampFault>;

  void push(Event e);
  void replay_next();
  void start(const PlacedTxn& t);
  Found look(const PlacedTxn& t);
  Found judge(const PlacedTxn& t, const Observation& seen, TimestampKey& key);
  bool is_of_unplaced(const Placed& t, const Observation& seen, TimestampKey& key);
  Found follow_session(const PlacedTxn& t) const;
  Found take_keys(const PlacedTxn& t);
  void note_begin(const PlacedTxn& t);
  void commit(const PlacedTxn& t);
  void keep_real_time(const PlacedTxn& t);
  void install(const Placed& t, OpId write);
  void keep(const PlacedTxn& t);

  const LevelInfo& level_;
  size_t keep_;
  TimestampListener& listener_;
  std::unordered_map<HeldValue, TimestampKey, HeldHash, HeldEqual> keys_;
  std::vector<Event> events_;       // a heap, the earliest first
  std::deque<PlacedTxn> kept_;      // those that have been replayed
  std::vector<PlacedTxn> started_;  // the last to begin, sorted by their begins
  // What the current transaction wrote, indexed by key of its piece, with the number of the look.
  std::vector<std::pair<uint64_t, KeyState>> own_;
  uint64_t looks_ = 0;
  int64_t replayed_ = Interval::kUnknown;
  uint64_t decided_ = 0;
  size_t waiting_ = 0;
};

}  // namespace assay::internal::watch
