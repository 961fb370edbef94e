// The arrows of an explanation: the edges of its cycle, and the edges that these rest on.
#pragma once

#include "assay/explanation.h"
#include "explain/clauses.h"
#include "explain/cycle.h"

namespace assay::internal {

// Adds the arrows of `cycle`, then the arrows that show the orders of writers which it assumes,
// with their transactions and operations.
void draw(const Cycle& cycle, const History& history, const Proof& proof, const Clauses& clauses,
          Explanation& e);

}  // namespace assay::internal
