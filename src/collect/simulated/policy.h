// What makes a simulated database provide one isolation level and not a stronger one: which commits
// a transaction sees, at what moment, and which conflicts its commit checks.
#pragma once

#include <cstdint>

#include "assay/anomaly.h"
#include "assay/level.h"

namespace assay::internal::collect {

// Which commits a transaction sees.
//   point      all up to one point of the commit order
//   replicas   those that have reached its session's replica; replicas apply commits in causal
//              order
//   scattered  its own session's, and a random choice of the recent others, each whole or not at
//              all
enum class ViewKind : uint8_t { point, replicas, scattered };

// When the view is chosen. every_range: at the first operation, and again for each range.
enum class Moment : uint8_t { begin, first_read, every_range, every_read };

// What must not have changed between view and commit. none: nothing; writes: the keys it wrote;
// reads: the keys it read, if it also wrote something, including those within its ranges; found:
// the same, but in its ranges only the rows that it found; locks: the keys it wrote, since it first
// did.
enum class Check : uint8_t { none, locks, writes, reads, found };

struct Policy {
  ViewKind view = ViewKind::point;
  Moment moment = Moment::begin;
  Check check = Check::none;
  bool sees_session = true;    // views hold everything the session saw and did before
  bool sees_previous = false;  // … and everything that was committed before the session's last
                               // commit
  bool backwards = false;      // every_read: later reads look at older points
  uint32_t max_lag = 0;        // a point may be this many commits behind …
  double lag_share = 0;        // … in this share of the transactions
  Anomaly bad_read = Anomaly::none;  // a read that no view explains
};

Policy policy_of(LevelId level);

// The policy with the bug that causes `bug`, and otherwise no weaker than needed for it.
Policy weaken(Policy policy, Anomaly bug);

// Whether no history of `level` can show the anomaly in the way it is planted.
bool forbids(LevelId level, Anomaly bug);

}  // namespace assay::internal::collect
