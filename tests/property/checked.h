// The checker and the verifier together, as something that can be compared with the oracle.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/check.h"
#include "base/rng.h"
#include "oracle/selftest.h"

namespace assay::internal {

// Verdicts of decide_levels() on every level. A verdict without a certificate that verify() accepts
// comes back inverted, so that whoever compares sees a disagreement; `complaint` says what is
// wrong.
oracle::Verdicts checked(const History& history, std::string* complaint,
                         const CheckOptions& options = {});

// Ways to come to the same verdicts: with all speed-ups, without each, without any, and the other
// engine.
std::vector<CheckOptions> ways_to_check();

// One at random: any speed-ups, either engine, one thread or two.
CheckOptions random_way(Rng& rng);

}  // namespace assay::internal
