// The walk over the lattice. See walk.cc.
#pragma once

#include "assay/check.h"

namespace assay::internal {

// Returns verdicts with certificates that have not been verified yet; check() is this and the
// verifier.
CheckResult decide_levels(const History& history, const CheckOptions& options);
// The same with this budget instead of that of the options.
CheckResult decide_levels(const History& history, const CheckOptions& options, Budget& budget);

}  // namespace assay::internal
