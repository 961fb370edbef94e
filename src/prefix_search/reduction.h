// Expresses prefix consistency and snapshot isolation as serializability. See reduction.cc.
#pragma once

#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"

namespace assay::internal {

// Returns a history that is session-serializable iff `history` satisfies `level`, which is prefix
// or session-si. Fails if the history cannot be expressed by reads and writes of single values: if
// it has lists that were read, or reads that no write or more than one write explains.
Result<History> reduce_to_serializability(const History& history, LevelId level);

}  // namespace assay::internal
