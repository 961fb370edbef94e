// The second way to decide the strong levels: a search over prefixes of executions. See
// prefix_search.cc.
#pragma once

#include "assay/budget.h"
#include "infer/judgement.h"
#include "infer/problem.h"
#include "infer/stages.h"

namespace assay::internal {

// Decides the level by a complete search, within the budget. `level` must not be weak; if it has
// real time, the history must have times. A violation comes with an empty proof: the search knows
// only that no order exists.
Judgement search_prefixes(const Problem& problem, const LevelInfo& level, Stages& stages,
                          Budget& budget);

}  // namespace assay::internal
