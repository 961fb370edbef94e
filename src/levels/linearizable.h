// Linearizability, key by key. See linearizable.cc.
#pragma once

#include "assay/budget.h"
#include "assay/check.h"
#include "infer/judgement.h"
#include "infer/problem.h"
#include "infer/stages.h"

namespace assay::internal {

// Whether the history can be decided key by key: every committed transaction has times, all that
// may count are one operation on one key that is no list, and no version orders are stated.
bool decidable_by_key(const Problem& problem);

// An unknown without a reason: another method must decide it.
Judgement decide_by_key(const Problem& problem, const SpeedUps& speed_ups, Stages& stages,
                        Budget& budget);

}  // namespace assay::internal
