// A first order for weak levels where sources of reads are open. See explained_order.cc.
#pragma once

#include <span>
#include <vector>

#include "graph/digraph.h"
#include "infer/open_reads.h"
#include "levels/waiting_sources.h"

namespace assay::internal {

// A topological order of the graph, whose vertices are transactions. As many of them as possible
// come after sources for what they read; otherwise the order is that of `order`, which is
// topological, too.
std::vector<Vertex> explained_order(const Digraph& graph, std::span<const Vertex> order,
                                    const OpenReads& open, WaitingSources& waiting);

}  // namespace assay::internal
