// Linearizability of one key by search, whatever its operations are. See linear_search.cc.
#pragma once

#include <span>

#include "assay/budget.h"
#include "assay/check.h"
#include "infer/judgement.h"
#include "levels/operation_times.h"

namespace assay::internal {

// `certain` are the operations of committed transactions on one key, `possible` those of unknown
// outcome, which may or may not take effect. Each transaction is one operation. An order names
// those of `possible` that took effect.
Judgement search_linearization(const History& history, const OperationTimes& times,
                               std::span<const TxnId> certain, std::span<const TxnId> possible,
                               const SpeedUps& speed_ups, Budget& budget);

}  // namespace assay::internal
