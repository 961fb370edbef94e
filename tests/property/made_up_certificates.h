// Certificates made up from nothing: orders that are any permutation, refutations whose edges are any edges.
#pragma once

#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "base/rng.h"

namespace assay {

// For every level, as are the others.
Certificate any_order(Rng& rng, const History& history);

// None if no two transactions of the history have an edge of any shape.
std::vector<Certificate> any_refutations(Rng& rng, const History& history, int count);

}  // namespace assay
