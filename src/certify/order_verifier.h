// Certificates of satisfaction: does this order show that the history satisfies the level?
//
// An order serves a level if
//   1. it holds every committed transaction exactly once, no aborted one, and r(T) before w(T);
//   2. replayed in this order, every operation returns what the history says (replay.h);
//   3. versions whose order the history states were installed in that order;
//   4. it contains what the level adds: session order, real time (real_time.h), no two writers of
//      one key at the same time;
//   5. if the level has one event per transaction, w(T) follows r(T) at once.
// If the level has one event per statement, r(T) may occur several times: the first is T's first
// statement, and so on, and the last stands for all remaining ones. From a statement that writes a
// key up to w(T) no other transaction may have such a statement. The weak levels have a separate
// definition (weak_order_verifier.h), but a prefix consistent history satisfies them all, so an
// order that can be replayed and contains session order serves them, too.
//
// Adya's levels have a separate verifier (adya_order_verifier.h), which also requires that the
// place of each version that was read is known (known_versions.h), and so do mixed levels
// (mixed_order_verifier.h) and statement snapshots (statement_order_verifier.h), where r(T) may
// occur several times.
//
// Unknown outcomes: those in the order took effect, the others did not. A transaction that did
// comes after what its session did before it, but its session went on without waiting for it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/commit_order.h"
#include "certify/known_versions.h"
#include "certify/lookups.h"
#include "certify/real_time.h"

namespace assay::internal::certify {

class OrderVerifier {
 public:
  OrderVerifier(const Order& order, const Lookups& lookups, unsigned threads)
      : order_(order), lookups_(lookups), history_(lookups.history()), threads_(threads) {}

  Status supports(LevelId level);

 private:
  Status serves_adya(const LevelInfo& level);
  Status serves_weak(const LevelInfo& level);
  Status serves_strong(const LevelInfo& level);
  Status serves_mixed();
  Status serves_statements();

  // Each result is computed once, whatever the number of levels.
  const Status& well_formed();
  const Status& replays();
  const Status& follows_sessions();
  const Status& follows_known_orders();
  const Status& writers_exclude_each_other();
  const Result<CommitOrder>& commit_order();
  const Result<CommitOrder>& adya_commit_order();
  Status serves_adya_where_known(std::span<const ForbiddenCycle> forbidden, ReadRule rule);
  const KnownVersions& versions();
  const Status& known_as_replayed(ReadRule rule);
  const Status& known_as_read();

  Status place(uint32_t event, uint32_t at);
  Status check_one_event() const;
  Status check_one_operation() const;
  Status check_time(RealTime rule);

  bool present(TxnId t) const { return write_place_[t] != kNone; }
  TxnId txn(uint32_t event) const { return order_.split ? event / 2 : event; }

  const Order& order_;
  const Lookups& lookups_;
  const History& history_;
  const unsigned threads_;
  // The places of the first r(T) and of w(T) in the order; kNone if T is not in it.
  std::vector<uint32_t> read_place_, write_place_;
  TxnId moved_ = kNone;  // a transaction that occurs several times
  Once<Status> well_formed_, replays_, sessions_, known_orders_, exclusion_;
  Once<Result<CommitOrder>> commit_order_, adya_commit_order_;
  Once<KnownVersions> versions_;
  // Whether the place of each version that was read is known: with dirty reads, and with clean
  // ones.
  Once<Status> known_dirty_, known_replayed_, known_read_;
  std::optional<LevelId> weak_;  // a weak level that the order serves as a commit order
  std::optional<RealTimeSweep> sweep_;
};

}  // namespace assay::internal::certify
