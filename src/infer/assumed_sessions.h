// Session order as an assumption, for levels that do not require it. See assumed_sessions.cc.
#pragma once

#include "infer/event_graph.h"

namespace assay::internal {

// Sets of edges that a database probably kept, in no particular order, none empty. Each may be
// given up by itself.
Rows<Arc> assumed_sessions(const EventGraph& events);

}  // namespace assay::internal
