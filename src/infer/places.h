// Estimates where events without times took place. See places.cc.
#pragma once

#include <span>
#include <vector>

#include "infer/event_graph.h"

namespace assay::internal {

// A topological order of the graph of `events` that is better than `order`, another one.
std::vector<Vertex> order_by_places(const EventGraph& events, std::span<const Vertex> order);

// The bytes that order_by_places takes.
uint64_t place_bytes(const EventGraph& events);

}  // namespace assay::internal
