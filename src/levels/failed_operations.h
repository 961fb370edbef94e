// Fitting failed compare-and-sets and inserts into an order of the operations that took effect. See
// failed_operations.cc.
#pragma once

#include <span>
#include <vector>

#include "history/accesses.h"
#include "levels/operation_times.h"

namespace assay::internal {

// From this place of the sequence on, until the next segment, the key is in one state. Before the
// first segment it is in the initial one.
struct Segment {
  size_t begin;
  KeyState state;
};

// Puts every failed operation at a place where it had to fail, by the clock. False, and `sequence`
// as it was, if one fits nowhere.
bool fit_failed(const History& history, const OperationTimes& times,
                std::span<const Segment> segments, std::span<const TxnId> failed,
                std::vector<TxnId>& sequence);

}  // namespace assay::internal
