// The second way to decide the strong levels: a search over prefixes of executions. See prefix_search.cc.
#pragma once

#include <cstdint>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "infer/problem.h"

namespace assay::internal {

struct PrefixSearchVerdict {
  Outcome outcome = Outcome::unknown;
  Unknown reason;         // of an unknown
  Order order;            // satisfied
  uint64_t prefixes = 0;  // at which the search had a choice
};

// Decides completely, within the budget. `level` must not be weak; where it has real time, the history has
// times. A violation comes without a proof: all that the search knows is that there is no order.
PrefixSearchVerdict search_prefixes(const Problem& problem, const LevelInfo& level, Budget& budget);

}  // namespace assay::internal
