// Cases in words.
#pragma once

#include "assay/certificate.h"
#include "assay/explanation.h"
#include "explain/reads_and_writes.h"
#include "explain/refutation.h"

namespace assay::internal {

// "No order of these 4 writers works; 4 cases, the first: ..." with the tree, and with the first
// case's cycle as arrows. For an empty tree: how many writers and cycles the proof goes through,
// and the shortest of the cycles.
void explain_cases(const CaseTree& tree, const Proof& proof, const Excerpt& excerpt,
                   Explanation& e);

}  // namespace assay::internal
