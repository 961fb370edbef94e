// Whether a proposed order plays as it stands. See replay_in_place.cc.
#pragma once

#include <span>

#include "assay/budget.h"
#include "assay/level.h"
#include "graph/digraph.h"
#include "infer/problem.h"

namespace assay::internal {

// True only if no event of the order would have to wait in a replay (schedule.cc); the order is then what the replay makes
// of it. `order` has every event once. False also if the budget ran out; what is spent is the caller's to count. The problem
// has no open reads.
bool plays_in_place(const Problem& problem, const LevelInfo& level, std::span<const Vertex> order,
                    unsigned threads, Budget budget);

}  // namespace assay::internal
