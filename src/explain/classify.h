// The field's name for a cycle.
#pragma once

#include "assay/anomaly.h"
#include "assay/history.h"
#include "assay/level.h"
#include "explain/cycle.h"

namespace assay::internal {

// `weakest`: the level that the cycle refutes; the levels below it are satisfied or were not asked
// for. The cycle must have no forced edges.
Anomaly classify(const Cycle& cycle, const LevelInfo& weakest, const History& history);

}  // namespace assay::internal
