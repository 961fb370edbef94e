// Fitting failed compare-and-sets and inserts into an order of the operations that took effect. See
// failed_operations.cc.
#pragma once

#include <span>
#include <vector>

#include "levels/operation_times.h"

namespace assay {

// From this place of the sequence on, until the next segment, the key holds one version. Before the
// first segment it holds the initial value.
struct Segment {
  size_t begin;
  VersionId version;
  bool removed;
};

// Whether an operation that needs the key to hold `expected`, or, for an insert, to be absent,
// would have taken effect on this content (version kNone: the initial value).
bool would_take_effect(const History& history, const Operation& op, VersionId expected,
                       VersionId content, bool removed);

// Puts every failed operation at a place where it had to fail, by the clock. False, and `sequence`
// as it was, if one fits nowhere.
bool fit_failed(const History& history, const OperationTimes& times,
                std::span<const Segment> segments, std::span<const TxnId> failed,
                std::vector<TxnId>& sequence);

}  // namespace assay
