// A history without end, given piece by piece and decided as it comes; and the listener to its
// results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/audit.h"
#include "assay/check.h"
#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/chain.h"
#include "history/held_value.h"

namespace assay::internal::watch {

struct WatchOptions {
  LevelId level = LevelId::strict_serializable;
  // A transaction is reported at most this much later than it began, in nanoseconds on the clock of
  // the history.
  int64_t lateness = 10'000'000'000;
  // How many sessions there are; 0: not known. Once each has reported, the mark need not wait for
  // `lateness`.
  uint32_t sessions = 0;
  // A transaction of unknown outcome counts as aborted after this long, if its writes have not been
  // read.
  int64_t settle = 30'000'000'000;
  size_t window = 4096;  // how many transactions are checked together, if there are as many
  size_t keep = 16384;  // how many settled transactions are kept, to take choices back and to prove
                        // violations
  double seconds = 10;  // for each window
  // Lines are in the order in which their transactions began, so there is nothing to wait for. A
  // transaction of unknown outcome was given up within `lateness` of its begin.
  bool by_begin = false;
  // There are several inputs, whose line numbers are meaningless together.
  bool many_inputs = false;
  // The transactions have the places given by start_ts and commit_ts, and the only question is
  // whether these explain the history.
  bool by_timestamps = false;
  // The key of fences, whose order replaces real time; empty: there are none.
  std::string fence = "";
  // Every run of this many consecutive transactions must satisfy the level by itself
  // (watch/horizon_watcher.h). 0: the history as a whole must.
  size_t horizon = 0;
};

// Something that cannot be decided.
struct Undecided {
  std::string about;     // the transaction, or the dropped part
  std::string reason;    // a sentence without its full stop
  int64_t at = 0;        // on the clock of the history
  bool resumed = false;  // whether everything kept was dropped and watching began anew
};

// Something that the timestamps do not explain.
struct Unexplained {
  OrderReplay::Fault fault = OrderReplay::Fault::none;
  std::string transaction;
  std::string
      other;  // for an operation: the writer of the state there; empty if it was the initial state
  std::string sentence;  // without its full stop
  // The part of these transactions that shows the fault: their timestamps do not explain this part
  // either. nullopt if the writer of the value that was read is forgotten.
  std::optional<History> part;
};

struct Progress {
  uint64_t transactions = 0;  // number reported
  uint64_t decided = 0;       // number of these that are decided
  uint64_t alarms = 0;
  uint64_t undecided = 0;  // number of stretches
  uint64_t buffered = 0;   // number not yet decided
  uint64_t kept = 0;       // number decided but not forgotten
  uint64_t live_keys = 0;
  int64_t mark = Interval::kUnknown;  // kOpen: every session has said that it reports nothing more
  int64_t now = Interval::kUnknown;   // the latest time that was reported
};

// A transaction that is left out from now on, with all reads of its writes.
struct Omission {
  uint64_t line = 0;
  bool alarm = false;  // because of an alarm; false: because of an unknown
  int64_t mark = Interval::kUnknown;
  uint64_t read = 0;  // the last line that had been read by then
};

// The listener to a watch.
class WatchListener {
 public:
  virtual ~WatchListener() = default;
  // A violation: the history of the audit is a projection of the watched one, and has a
  // certificate.
  virtual void alarm(Audit&& violation, const std::string& left_out) = 0;
  virtual void undecided(const Undecided& what) = 0;
  // The alarm of a watch by timestamps.
  virtual void unexplained(Unexplained&&) {}
  // A transaction is left out because of the last result: the alarm, or the unknown.
  virtual void left_out(const Omission&) {}
  // Whether nothing more need be reported.
  virtual bool has_enough() const { return false; }
  // The final decisions, in order: segments of a chain of certificates (certify/chain.h).
  virtual void sealed(const certify::Segment&) {}
};

class Watch {
 public:
  virtual ~Watch() = default;
  // Adds the next lines. An error is about these lines or their order.
  virtual Status add(const std::shared_ptr<const History>& piece) = 0;
  // Decides as far as everything is reported; the rest waits for more lines.
  virtual Status decide_sealed() = 0;
  // Ends the history: no more lines will come.
  virtual Status finish() = 0;
  virtual const Progress& progress() = 0;
  // Transactions that began before this and are not reported are no longer waited for.
  virtual int64_t overdue() const = 0;
  // Notes that transactions reported between here and the next line are lost, and that these
  // sessions report nothing more. Not for a watch by timestamps or by fences, which has one input.
  virtual void note_loss(std::span<const HeldValue>) {}
};

// Checks that the level can be watched; the error says why others cannot.
Status can_watch(const WatchOptions& options);
// Checks that a piece, apart from its transactions, states nothing but what can be watched.
Status can_watch_piece(const History& piece);
// Checks that a transaction has operations that can be watched, and the times that the level needs.
Status can_watch_txn(const History& h, TxnId t, LevelId level);

}  // namespace assay::internal::watch
