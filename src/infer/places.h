// Estimates where events took place that have no times. See places.cc.
#pragma once

#include <span>
#include <vector>

#include "infer/event_graph.h"

namespace assay::internal {

// A topological order of the graph of `events`, better than `order`, which is one too.
std::vector<Vertex> order_by_places(const EventGraph& events, std::span<const Vertex> order);

// What that takes.
uint64_t place_bytes(const EventGraph& events);

}  // namespace assay::internal
