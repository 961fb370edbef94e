// Which engine decides a strong level. See engine.cc.
#pragma once

#include "assay/check.h"
#include "levels/strong.h"

namespace assay {

// Decides completely, within the budget.
StrongVerdict decide_with(EngineId engine, const StrongInput& in, const LevelInfo& level,
                          Budget& budget);

}  // namespace assay
