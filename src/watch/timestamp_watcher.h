// Watches whether the database's own timestamps explain a history without end (timestamp_replay.h).
//
//   What is replayed has to be reported first. Let W be the moment such that every transaction that
//   began before it was reported (watcher.h). Transactions still to come began after all had ended
//   that ended before W; at strong-si it starts after they committed. So everything before the
//   latest of those commits can be replayed. If one comes all the same with an earlier start, its
//   timestamp is the fault. A single commit that is too far ahead must not make all others look
//   late, so the last but one counts.
//
//   At session-si there is no real time, but a transaction starts after what its session did
//   before: once each session has reported, the least of their latest commits is the limit.
//
// Memory: the keys that were touched, the transactions from the oldest open one on, and those kept.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "certify/chain.h"
#include "history/held_value.h"
#include "watch/timestamp_replay.h"
#include "watch/watch.h"

namespace assay::internal::watch {

class TimestampWatcher final : public Watch, private TimestampListener {
 public:
  TimestampWatcher(const WatchOptions& options, WatchListener& listener)
      : options_(options), listener_(listener), replay_(options.level, options.keep, *this) {}

  Status add(const std::shared_ptr<const History>& piece) override;
  Status decide_sealed() override;
  Status finish() override;
  const Progress& progress() override;
  int64_t overdue() const override;

 private:
  bool real_time() const { return level_info(options_.level).real_time != RealTime::none; }
  Status can_take(const History& h, TxnId t) const;
  Status take(const std::shared_ptr<KeyedPiece>& piece, TxnId t);
  Status take_session(const History& h, TxnId t, TimestampSession& session);
  Status take_event(const Event& event);
  Placed placed(const std::shared_ptr<KeyedPiece>& piece, TxnId t);
  void add_unplaced(KeyedPiece& piece, const Placed& p);
  void add_late(Placed p);
  int64_t mark() const;
  int64_t sealed_by_real_time();
  int64_t sealed_by_sessions() const;

  void fault(const TimestampFault& fault) override;
  void saw_unplaced(const Placed& reader, OpId op, const Unplaced* writer) override;
  void report(std::string about, std::string reason);

  struct EndsLater {
    bool operator()(const PlacedTxn& a, const PlacedTxn& b) const { return a->end > b->end; }
  };

  WatchOptions options_;
  WatchListener& listener_;
  TimestampReplay replay_;
  Progress progress_;
  std::unordered_map<HeldValue, TimestampSession, HeldHash, HeldEqual> sessions_;
  certify::LineNumbers lines_;
  std::priority_queue<PlacedTxn, std::vector<PlacedTxn>, EndsLater> ended_;  // transactions that
                                                                             // ended after W
  PlacedTxn latest_, last_but_one_;  // by commit, of transactions that ended before W
  uint64_t next_number_ = 0;
  int64_t now_ = Interval::kUnknown;
};

}  // namespace assay::internal::watch
