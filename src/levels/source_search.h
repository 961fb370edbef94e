// Decides a weak level, or one of Adya's, if several transactions may have left what an operation
// saw. See source_search.cc.
#pragma once

#include <cstdint>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/check.h"
#include "assay/level.h"
#include "infer/judgement.h"
#include "infer/open_reads.h"
#include "infer/problem.h"
#include "infer/stages.h"
#include "levels/chosen_sources.h"

namespace assay::internal {

// `open`: the problem's open reads, and the observations of transactions of unknown outcome that a
// source may make take effect (OpenReads::add_possible); one state per key, or each operation by
// itself, as `level` requires. `first`: an order that satisfies the level if the open reads are
// ignored. `chosen`: from the last call with the same history and open reads. Unknown after
// `most_conflicts`; with 0, if the first order tried does not satisfy the level.
Judgement decide_with_sources(const Problem& problem, const LevelInfo& level, const OpenReads& open,
                              const Order& first, const SpeedUps& on, ChosenSources& chosen,
                              Stages& stages, Budget& budget, uint64_t most_conflicts = UINT64_MAX);

}  // namespace assay::internal
