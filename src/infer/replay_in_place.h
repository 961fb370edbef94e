// Which events of a proposed order cannot happen at their place in it. See replay_in_place.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "assay/level.h"
#include "graph/digraph.h"
#include "infer/problem.h"

namespace assay::internal {

// The places, ascending, of the events that would have to wait in a replay (schedule.cc) if all
// before them, and no others, had happened in this order. `order` has every event once. nullopt if
// these are too many to be worth knowing, or if the budget ran out; the caller counts the effort.
// The problem must not have open reads. `stated_before`: as for the Scheduler.
std::optional<std::vector<uint32_t>> waiting_in_place(const Problem& problem,
                                                      const LevelInfo& level,
                                                      std::span<const Vertex> order,
                                                      unsigned threads, const Budget& budget,
                                                      std::span<const Node> stated_before = {});

}  // namespace assay::internal
