// No verdict without a certificate that the independent verifier accepts.
#pragma once

#include <utility>
#include <vector>

#include "assay/check.h"

namespace assay::internal {

// The levels for which the verifier refused a certificate, and why. Each verdict is judged
// separately: the certificate still holds for its other levels.
using Refusals = std::vector<std::pair<LevelId, Unknown>>;

// The refusals for each certificate, from the first on, as long as `memory` suffices. As many
// certificates as there are threads and memory for are verified together, each with its share of
// the threads; 0 threads: one per core.
std::vector<Refusals> refusals_of(const std::vector<Certificate>& certificates,
                                  const History& history, Budget& memory, unsigned threads);

// Turns verdicts whose certificate does not hold for the history into unknown ones: that is a fault
// of this program, unless `memory` or the verifier's limits did not suffice. True if it turned any.
bool withhold_refused(CheckResult& result, const std::vector<Refusals>& refusals,
                      const Budget& memory);

// Does both.
void verify_verdicts(CheckResult& result, const History& history, Budget memory,
                     unsigned threads = 1);

}  // namespace assay::internal
