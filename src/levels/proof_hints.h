// The clause that a step of a proof adds, and hints that unit propagation needs.
#pragma once

#include <vector>

#include "assay/certificate.h"

namespace assay::internal {

// The clause of a step. That of a cycle: its assumptions do not all hold.
std::vector<Literal> clause_of(const ProofStep& step);

// Of the hints of each derived step, keeps those whose clauses become unit, up to the one that becomes false.
void tidy_hints(Proof& proof);

}  // namespace assay::internal
