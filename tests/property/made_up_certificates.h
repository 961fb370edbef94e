// Certificates made up from nothing: orders that are any permutation, refutations whose edges are
// any edges.
#pragma once

#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "base/rng.h"

namespace assay::internal {

// Every edge that has the right shape: its transactions do what an edge of its kind is about.
// Whether it holds is another question.
std::vector<Edge> every_edge(const History& history);

// For every level, as are the others.
Certificate any_order(Rng& rng, const History& history);

// None if no two transactions of the history have an edge of any shape.
std::vector<Certificate> any_refutations(Rng& rng, const History& history, int count);

}  // namespace assay::internal
