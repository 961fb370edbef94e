// A history that does not end, given piece by piece and decided as it comes; and the listener to
// its results.
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
  // A transaction is reported at most so much later than it began, in nanoseconds on the clock of
  // the history.
  int64_t lateness = 10'000'000'000;
  // How many sessions there are; 0: not known. Once each was heard of, the mark need not wait for
  // `lateness`.
  uint32_t sessions = 0;
  // After this long a transaction of unknown outcome is taken as aborted, if its writes have not
  // been read.
  int64_t settle = 30'000'000'000;
  size_t window = 4096;  // transactions that are checked together, if this many have come
  size_t keep =
      16384;  // settled transactions that are kept, to take choices back and to prove violations
  double seconds = 10;  // for one window
  // Lines are in the order in which their transactions began, so nothing need be waited for. A
  // transaction of unknown outcome was given up within `lateness` of its begin.
  bool by_begin = false;
  // Of several inputs: their line numbers say nothing together.
  bool many_inputs = false;
  // The transactions have the places given by start_ts and commit_ts, and the only question is
  // whether these explain the history.
  bool by_timestamps = false;
  // The key of fences, whose order replaces real time; empty: there are none.
  std::string fence = "";
  // This many consecutive transactions are held to the level by themselves
  // (watch/horizon_watcher.h). 0: the history as a whole.
  size_t horizon = 0;
};

// What cannot be decided.
struct Undecided {
  std::string about;     // the transaction, or the dropped part
  std::string reason;    // a sentence without its full stop
  int64_t at = 0;        // on the clock of the history
  bool resumed = false;  // all that was kept was dropped; watching began anew
};

// What the timestamps do not explain.
struct Unexplained {
  OrderReplay::Fault fault = OrderReplay::Fault::none;
  std::string transaction;
  std::string
      other;  // of an operation: the writer of the state there; empty if it was the initial state
  std::string sentence;  // without its full stop
  // The part of these transactions that shows it: their timestamps do not explain this either.
  // Nothing if the writer of the value that was read is forgotten.
  std::optional<History> part;
};

struct Progress {
  uint64_t transactions = 0;  // reported
  uint64_t decided = 0;       // of these
  uint64_t alarms = 0;
  uint64_t undecided = 0;  // stretches
  uint64_t buffered = 0;   // not yet decided
  uint64_t kept = 0;       // decided, but not forgotten
  uint64_t live_keys = 0;
  int64_t mark = Interval::kUnknown;  // kOpen: every session said that it reports nothing more
  int64_t now = Interval::kUnknown;   // the latest time reported
};

// A transaction that is left out from now on, with all reads of its writes.
struct Omission {
  uint64_t line = 0;
  bool alarm = false;  // or of an unknown
  int64_t mark = Interval::kUnknown;
  uint64_t read = 0;  // the last line read by then
};

// The listener to a watch.
class WatchListener {
 public:
  virtual ~WatchListener() = default;
  // Violated: the history of the audit is a projection of the one watched, and has a certificate.
  virtual void alarm(Audit&& violation, const std::string& left_out) = 0;
  virtual void undecided(const Undecided& what) = 0;
  // An alarm too, of a watch by timestamps.
  virtual void unexplained(Unexplained&&) {}
  // A transaction is left out because of the last result: the alarm, or the unknown.
  virtual void left_out(const Omission&) {}
  // Nothing more need be reported.
  virtual bool has_enough() const { return false; }
  // The final decisions, in order: segments of a chain of certificates (certify/chain.h).
  virtual void sealed(const certify::Segment&) {}
};

class Watch {
 public:
  virtual ~Watch() = default;
  // The next lines. An error is one of these lines or of the order of lines.
  virtual Status add(const std::shared_ptr<const History>& piece) = 0;
  // As far as all is reported; the rest waits for more.
  virtual Status decide_sealed() = 0;
  // No more will come.
  virtual Status finish() = 0;
  virtual const Progress& progress() = 0;
  // Transactions that began before and are not reported are not waited for.
  virtual int64_t overdue() const = 0;
  // Transactions reported between here and the next line are lost, and these sessions report
  // nothing more. Not for a watch by timestamps or by fences, which has one input.
  virtual void note_loss(std::span<const HeldValue>) {}
};

// Levels that can be watched, and why others cannot.
Status can_watch(const WatchOptions& options);
// Whether a piece states nothing but what can be watched; its transactions aside.
Status can_watch_piece(const History& piece);
// Whether a transaction has operations that can be watched, and the times that the level needs.
Status can_watch_txn(const History& h, TxnId t, LevelId level);

}  // namespace assay::internal::watch
