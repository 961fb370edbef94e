// Whether a history has observations on which a verdict can rest.
#pragma once

#include <cstdint>

#include "assay/check.h"
#include "assay/history.h"

namespace assay::internal {

// The number of times that committed transactions looked at what others could have written: reads,
// ranges and conditional writes of a key that the transaction itself had not written before.
uint64_t count_observations(const History& history);

// A history without a read of another transaction's write satisfies every level, whatever the
// database did. Turns its satisfied verdicts into unknown ones, unless it states an order of
// versions, which can contradict a level by itself. Violated verdicts stay. True if it turned any.
bool withhold_vacuous(CheckResult& result, const History& history, uint64_t observations);

}  // namespace assay::internal
