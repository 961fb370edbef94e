// An order of the operations on one key, found by a beam search over situations. See key_beam.cc.
#pragma once

#include "assay/budget.h"
#include "infer/judgement.h"
#include "levels/key_operations.h"

namespace assay::internal {

// Satisfied, or unknown: then another method must decide. Leaves `ops` unchanged.
Judgement search_by_beam(const KeyOperations& ops, Budget& budget);

}  // namespace assay::internal
