// Fitting failed compare-and-sets and inserts into an order of the operations that took effect. See
// failed_operations.cc.
#pragma once

#include <span>
#include <vector>

#include "history/accesses.h"
#include "levels/operation_times.h"

namespace assay::internal {

// The key is in one state from this place of the sequence until the next segment. Before the first
// segment it is in the initial state.
struct Segment {
  size_t begin;
  KeyState state;
};

// Inserts every failed operation at a place where it must fail and that the clock allows. False,
// with `sequence` unchanged, if one fits nowhere.
bool fit_failed(const History& history, const OperationTimes& times,
                std::span<const Segment> segments, std::span<const TxnId> failed,
                std::vector<TxnId>& sequence);

}  // namespace assay::internal
