// Weak levels of a history whose reads have several possible sources, accepted with the nearest
// ones. See nearest_sources.cc.
#pragma once

#include "assay/budget.h"
#include "assay/level.h"
#include "infer/judgement.h"
#include "infer/open_reads.h"
#include "infer/problem.h"
#include "infer/stages.h"

namespace assay::internal {

// Satisfied, or unknown: then a search must settle it. `matched`: without what is open; `problem`:
// with it. `asked`: the reads that the level asks about, each by itself or together; where some are
// not among those of the problem, nothing is said.
Judgement accept_nearest_sources(const Problem& matched, const Problem& problem,
                                 const LevelInfo& level, const OpenReads& asked, bool local_search,
                                 Stages& stages, Budget& budget);

}  // namespace assay::internal
