// Weak levels of a history whose reads have several possible sources, accepted with the nearest
// ones. See nearest_sources.cc.
#pragma once

#include "assay/budget.h"
#include "assay/check.h"
#include "assay/level.h"
#include "infer/judgement.h"
#include "infer/open_reads.h"
#include "infer/problem.h"
#include "infer/stages.h"

namespace assay::internal {

// Unknown if a search must decide the level. `matched`: without the open reads; `problem`: with
// them. `asked`: the reads that the level judges, separately or together. `first`: an order that
// satisfies the level if the open reads are ignored.
Judgement try_nearest_sources(const Problem& matched, const Problem& problem,
                              const LevelInfo& level, const OpenReads& asked, const Order& first,
                              const SpeedUps& on, Stages& stages, Budget& budget);

}  // namespace assay::internal
