// Steps of proofs: how they are made, what one takes for granted, the clause that it adds, and
// hints that unit propagation needs.
#pragma once

#include <optional>
#include <vector>

#include "assay/certificate.h"

namespace assay::internal {

ProofStep cycle_step(std::vector<Edge> cycle);
// That the operation saw one of the sources in the clause.
ProofStep sources_step(OpId op, KeyId key, std::vector<Literal> clause = {});
// Appends that the clause follows from all steps, in their order; not of one step, which says it
// itself.
void conclude(std::vector<ProofStep>& steps, std::vector<Literal> clause = {});

// The order of two writers that an edge takes for granted, if it does.
std::optional<Literal> order_assumed(const Edge& edge);
// What a cycle takes for granted, each once.
std::vector<Literal> assumptions(const ProofStep& step);
// What a step says, also a cycle: that not all it takes for granted holds.
std::vector<Literal> clause_of(const ProofStep& step);

// Of the hints of each derived step, keeps those whose clauses become unit, up to the one that
// becomes false.
void tidy_hints(Proof& proof);

}  // namespace assay::internal
