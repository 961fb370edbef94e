// Levels that differ in session order alone.
#pragma once

#include "assay/level.h"

namespace assay::internal {

// The level with session order added, if there is one; else the level.
LevelId with_sessions(LevelId id);

}  // namespace assay::internal
