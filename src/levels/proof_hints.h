// Steps of proofs: how they are made, what a step takes for granted, the clause that it adds, and
// the hints that unit propagation needs.
#pragma once

#include <optional>
#include <vector>

#include "assay/certificate.h"

namespace assay::internal {

ProofStep cycle_step(std::vector<Edge> cycle);
// A step that says that the operation saw one of the sources in the clause.
ProofStep sources_step(OpId op, KeyId key, std::vector<Literal> clause = {});
// Appends a step by which the clause follows from all steps, in their order. Does nothing if there
// is only one step, which is the clause itself.
void conclude(std::vector<ProofStep>& steps, std::vector<Literal> clause = {});

// The order of two writers that an edge takes for granted, if it does.
std::optional<Literal> order_assumed(const Edge& edge);
// Everything that a cycle takes for granted, each assumption once.
std::vector<Literal> assumptions(const ProofStep& step);
// The clause of a step; for a cycle, that not everything it takes for granted holds.
std::vector<Literal> clause_of(const ProofStep& step);

// Reduces the hints of each derived step to those whose clauses become unit, up to the one that
// becomes false.
void tidy_hints(Proof& proof);

}  // namespace assay::internal
