// What makes a simulated database give one isolation level and not a stronger one: which commits a
// transaction sees, at what moment, and which conflicts its commit checks.
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

// What must not have changed between view and commit: nothing; the keys it wrote; the keys it read
// if it also wrote something, those within its ranges included; of its ranges, the rows it found
// only. locks: the keys it wrote, since it first did.
enum class Check : uint8_t { none, locks, writes, reads, found };

struct Policy {
  ViewKind view = ViewKind::point;
  Moment moment = Moment::begin;
  Check check = Check::none;
  bool sees_session = true;    // views hold everything the session saw and did before
  bool sees_previous = false;  // … and everything committed before the session's last commit
  bool backwards = false;      // every_read: later reads look at older points
  uint32_t max_lag = 0;        // a point may be this many commits behind …
  double lag_share = 0;        // … in this share of the transactions
  Anomaly bad_read = Anomaly::none;  // a read that no view explains
};

Policy policy_of(LevelId level);

// The policy with the bug that causes `bug`, and nothing weaker than needed for it.
Policy weaken(Policy policy, Anomaly bug);

// True if no history of `level` can show the anomaly the way it is planted.
bool forbids(LevelId level, Anomaly bug);

}  // namespace assay::internal::collect
