// No verdict without a certificate that the independent verifier accepts.
#pragma once

#include "assay/check.h"

namespace assay::internal {

// Turns verdicts whose certificate does not hold for the history into unknown ones: a fault of this program, unless there
// was no room in `memory`, or more to look at than the verifier looks at. As many certificates as there are threads and
// room for are verified together, each with its share of the threads; 0 threads: one per core.
void verify_verdicts(CheckResult& result, const History& history, Budget memory,
                     unsigned threads = 1);

}  // namespace assay::internal
