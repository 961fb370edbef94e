// Rules out sources of open reads by the known graph. See narrow_sources.cc.
#pragma once

#include <optional>

#include "assay/budget.h"
#include "assay/level.h"
#include "infer/problem.h"
#include "infer/saturation.h"

namespace assay::internal {

// The problem with fewer sources of its open reads, and with those reads that have one source left
// as facts. Sources more than `reach` transactions away from the reader in the order of the hint
// are omitted from the beginning, where there are others. None if nothing is ruled out, or it
// cannot be found out: the level has no session order, clocks would be too large, the budget ran
// out, or the known edges contradict each other.
std::optional<Problem> narrow_sources(const Problem& problem, const LevelInfo& level,
                                      uint32_t reach, const SaturationRules& rules, Budget& budget);

// As many transactions away from the reader a source seldom is: sessions go at an even pace, but
// for some multiple of a random walk.
uint32_t usual_reach(const Problem& problem);

}  // namespace assay::internal
