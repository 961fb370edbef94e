// Which engine decides a strong level. See engine.cc.
#pragma once

#include "assay/check.h"
#include "levels/strong.h"

namespace assay::internal {

// Decides completely, within the budget; part by part if the history has independent parts.
// `contradicted`: finds contradicted rows, if the open reads leave skipped rows out
// (skipped_rows.h).
Judgement decide(const CheckOptions& options, const Problem& problem, const LevelInfo& level,
                 Stages& stages, Budget& budget, const FindContradicted* contradicted = nullptr);

}  // namespace assay::internal
