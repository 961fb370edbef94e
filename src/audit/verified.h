// No verdict without a certificate that the independent verifier accepts.
#pragma once

#include <utility>
#include <vector>

#include "assay/check.h"

namespace assay::internal {

// The levels for which the verifier refused a certificate, and why. Each verdict is separate: the
// other levels of the certificate hold.
using Refusals = std::vector<std::pair<LevelId, Unknown>>;

// Of the certificates, from the first on, for which there was room in `memory`. As many as there
// are threads and room for are verified together, each with its share of the threads; 0 threads:
// one per core.
std::vector<Refusals> refusals_of(const std::vector<Certificate>& certificates,
                                  const History& history, Budget& memory, unsigned threads);

// Turns verdicts whose certificate does not hold for the history into unknown ones: a fault of this
// program, unless `memory` did not suffice, or the verifier's limits. True if it turned any.
bool withhold_refused(CheckResult& result, const std::vector<Refusals>& refusals,
                      const Budget& memory);

// Both.
void verify_verdicts(CheckResult& result, const History& history, Budget memory,
                     unsigned threads = 1);

}  // namespace assay::internal
