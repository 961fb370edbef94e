// Which engine decides a strong level. See engine.cc.
#pragma once

#include "assay/check.h"
#include "levels/strong.h"

namespace assay::internal {

// Decides completely, within the budget; part by part if the history has independent parts.
LevelVerdict decide(const CheckOptions& options, const StrongInput& in, const LevelInfo& level,
                    Budget& budget);

}  // namespace assay::internal
