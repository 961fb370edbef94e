// Prefix consistency and snapshot isolation as serializability. See reduction.cc.
#pragma once

#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"

namespace assay::internal {

// A history that is session-serializable iff `history` satisfies `level`, which is prefix or
// session-si. Fails on what cannot be put in reads and writes of single values: lists that were
// read, reads that nothing explains or that more than one write explains.
Result<History> reduce_to_serializability(const History& history, LevelId level);

}  // namespace assay::internal
