// What follows from transactions that overwrite a version which they read. See updates.cc.
#pragma once

#include "assay/budget.h"
#include "infer/event_graph.h"
#include "infer/known_edges.h"

namespace assay::internal {

// Adds the edges to the graph of `events`, each with its reason to `known`. False, with nothing
// added, if the budget ran out.
bool add_updates(EventGraph& events, KnownEdges& known, Budget& budget);

}  // namespace assay::internal
