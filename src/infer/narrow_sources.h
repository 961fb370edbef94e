// Who cannot have left what an open read saw, by what is known. See narrow_sources.cc.
#pragma once

#include <optional>

#include "assay/budget.h"
#include "assay/level.h"
#include "infer/hint.h"
#include "infer/open_reads.h"
#include "infer/reads_from.h"
#include "infer/saturation.h"

namespace assay::internal {

struct NarrowedSources {
  ReadsFrom rf;    // with the reads that have one source left as facts
  OpenReads open;  // the same reads as before, with fewer sources
};

// `rf` and `open` as the search at `level` has them. Sources more than `reach` transactions away from the reader in the order
// of the hint are left out to begin with, where there are others. None if nothing is ruled out, or it cannot be found out: the level has
// no session order, clocks would be too large, the budget ran out, or what is known contradicts itself.
std::optional<NarrowedSources> narrow_sources(const History& history, const LevelInfo& level,
                                              const ReadsFrom& rf, const Hint& hint,
                                              const OpenReads& open, uint32_t reach,
                                              const SaturationRules& rules, Budget& budget);

}  // namespace assay::internal
