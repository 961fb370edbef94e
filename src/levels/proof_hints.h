// The clause that a step of a proof adds, and hints that unit propagation needs.
#pragma once

#include <vector>

#include "assay/certificate.h"

namespace assay {

// What a step says: for a cycle, that not everything holds that it assumes and is given.
std::vector<Literal> clause_of(const ProofStep& step);

// Keeps, of the hints of each derived step, those that become unit, up to the one that becomes false. A search knows more
// than its clauses say at that point (two forced orders may contradict each other directly).
void tidy_hints(Proof& proof);

}  // namespace assay
