// The field's name for a cycle.
#pragma once

#include "assay/anomaly.h"
#include "assay/history.h"
#include "assay/level.h"
#include "explain/local_graph.h"

namespace assay::internal {

// Turns a cycle of a weak level (read_from, session, forced) into the form of the strong ones: what
// a reader could see, and the anti-dependency to what it missed. Other cycles stay as they are.
Cycle without_forced(Cycle cycle);

// `weakest`: the level the cycle refutes, while the levels below it are satisfied or were not asked
// for. The cycle has no forced edges.
Anomaly classify(const Cycle& cycle, const LevelInfo& weakest, const History& history);

}  // namespace assay::internal
