// The smallest part of a history that still shows something.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "assay/anomaly.h"
#include "assay/budget.h"
#include "assay/check.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal {

struct ShrinkOptions {
  // Transactions worth trying first on their own, such as those an explanation names; may be empty.
  std::vector<TxnId> suspects;
  // When the budget runs out, the smallest history found so far is returned.
  Budget budget;
  uint64_t most_tries = UINT64_MAX;
  bool whole_transactions = false;  // leave out no operation of a transaction that stays
  // Called with the numbers of transactions and operations left.
  std::function<void(uint32_t, uint32_t)> progress;
};

// What must stay true, e.g. "violates session-si".
using Shows = std::function<bool(const History&)>;

struct Shrunk {
  History history;
  std::vector<OpId> origins;  // indexed by operation: which one it was
  uint64_t tries = 0;         // number of histories that were built and tested
  bool complete = false;      // nothing more can be left out; false if the budget ran out first
};

// Leaves out transactions, then operations, as long as `shows` holds. What remains is a projection
// of the history (history/projection.h): it shows nothing that the history itself does not show.
// `shows` must hold for `history` itself; otherwise a usage error.
Result<Shrunk> shrink(const History& history, const Shows& shows, const ShrinkOptions& options);

// The smallest part that violates `level` by the same fault as the whole.
//
//   s1: { w(x,1) }   s2: { r(x,1) w(x,2) }   s3: { r(x,1) w(x,3) }   and ten thousand others
//   A lost update stays one: neither a stale read elsewhere nor a read that lost its writer takes
//   its place.
//
// A fault that two operations show stays that fault. A fault that a cycle or a search shows keeps
// its name as soon as the part is small enough to be explained again, and is never exchanged for
// one of two operations.
//
// `anomaly`: the one by which `history` violates `level`. Checks with `checking`, for this level
// alone; the verifier accepts every step. A usage error if `history` does not violate the level by
// this anomaly.
Result<Shrunk> shrink_violation(const History& history, LevelId level, Anomaly anomaly,
                                CheckOptions checking, const ShrinkOptions& options);

}  // namespace assay::internal
