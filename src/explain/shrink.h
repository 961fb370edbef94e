// The smallest part of a history that still shows something.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal {

struct ShrinkOptions {
  // Transactions worth trying first on their own, such as those an explanation names; may be empty.
  std::vector<TxnId> suspects;
  // When one of these runs out, the smallest history found so far is returned.
  Budget budget;
  uint64_t most_tries = UINT64_MAX;
  bool whole_transactions = false;  // leaves out no operation of a transaction that stays
  // Called with the numbers of transactions and operations left.
  std::function<void(uint32_t, uint32_t)> progress;
};

// What must stay true, e.g. "violates session-si".
using Shows = std::function<bool(const History&)>;

struct Shrunk {
  History history;
  std::vector<OpId> origins;  // of each of its operations: which one it was
  uint64_t tries = 0;         // histories that were built and asked about
  bool complete = false;      // nothing more can be left out; false if the budget ran out before
};

// Leaves out transactions, then operations, as long as `shows` holds. What remains is a projection of the history
// (history/projection.h): it shows nothing that the history itself does not show. `shows` must hold
// for `history` itself; otherwise a usage error.
Result<Shrunk> shrink(const History& history, const Shows& shows, const ShrinkOptions& options);

}  // namespace assay::internal
