// Linearizability, key by key. See linearizable.cc.
#pragma once

#include "assay/budget.h"
#include "assay/check.h"
#include "infer/judgement.h"
#include "infer/problem.h"
#include "infer/stages.h"

namespace assay::internal {

// Whether the history can be decided key by key: every committed transaction has times, every
// transaction that may count is one operation on one key that is not a list, and no version orders
// are stated.
bool decidable_by_key(const Problem& problem);

// If the result is unknown without a reason, another method must decide the level.
Judgement decide_by_key(const Problem& problem, const SpeedUps& speed_ups, Stages& stages,
                        Budget& budget);

}  // namespace assay::internal
