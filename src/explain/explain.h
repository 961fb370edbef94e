// From verdicts to explanations.
#pragma once

#include <vector>

#include "assay/check.h"
#include "assay/explanation.h"
#include "assay/history.h"

namespace assay::internal {

// One explanation per distinct reason; every violated level of `result` is in the `levels` of
// exactly one. Levels are explained from the weakest up, since the weakest violated level says
// most: a stronger level that the same story refutes gets no other story. Levels that were not
// asked for may name the anomaly: they are decided on the transactions of the counterexample. The
// history itself is not decided again.
std::vector<Explanation> explain(const History& history, const CheckResult& result);

// The explanation that covers `level`; null if there is none.
const Explanation* find_explanation(const std::vector<Explanation>& explanations, LevelId level);

}  // namespace assay::internal
