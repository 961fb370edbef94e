// Rules out sources of open reads, using the known graph. See narrow_sources.cc.
#pragma once

#include <optional>

#include "assay/budget.h"
#include "assay/level.h"
#include "infer/problem.h"
#include "infer/saturation.h"

namespace assay::internal {

// The problem with fewer sources of its open reads, and with those reads that have one source left
// as facts. Sources more than `reach` transactions away from the reader in the order of the hint
// are dropped at the start if the read has others. nullopt if nothing is ruled out, or if nothing
// can be: the level has no session order, clocks would be too large, the budget ran out, or the
// known edges contradict each other.
std::optional<Problem> narrow_sources(const Problem& problem, const LevelInfo& level,
                                      uint32_t reach, const SaturationRules& rules, Budget& budget);

// The number of transactions by which a source is seldom further away from the reader: sessions
// advance at an even pace, up to a multiple of a random walk.
uint32_t usual_reach(const Problem& problem);

}  // namespace assay::internal
