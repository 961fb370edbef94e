// Reads of a key that returned a value which the key did not hold while they ran. See
// value_intervals.cc.
#pragma once

#include <optional>
#include <span>

#include "assay/certificate.h"
#include "levels/operation_times.h"

namespace assay::internal {

// `certain` are the operations of committed transactions on one key, `possible` those of unknown
// outcome. Each transaction is one operation. nullopt if no read is refuted in this way.
std::optional<Proof> refute_by_intervals(const History& history, const OperationTimes& times,
                                         std::span<const TxnId> certain,
                                         std::span<const TxnId> possible);

}  // namespace assay::internal
