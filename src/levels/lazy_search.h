// Linearizability of one key: orders in which nothing changes the state before it has to. See
// lazy_search.cc.
#pragma once

#include "assay/budget.h"
#include "levels/key_operations.h"
#include "levels/linear_search.h"

namespace assay::internal {

// Satisfied or unknown: whether there is an order of another kind is left to search_linearization.
// Leaves `ops` unchanged. Gives up after a number of situations that is linear in the operations.
Judgement search_lazily(KeyOperations& ops, Budget& budget);

}  // namespace assay::internal
