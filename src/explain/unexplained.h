// Violations that need no cycle: operations that no order of anything explains.
#pragma once

#include "assay/certificate.h"
#include "assay/explanation.h"
#include "assay/level.h"
#include "explain/reads_and_writes.h"

namespace assay::internal {

// Explains two operations; a lost update that only counting shows may be about more.
void explain_bad_read(const Excerpt& excerpt, const BadRead& bad, Explanation& e);

// No transaction can have left the state that an operation saw: the last step of a proof.
void explain_sourceless(const Excerpt& excerpt, const ProofStep& nobody, Explanation& e);

// Explains a refutation about the sources of list elements: two lists contradict each other, or an
// element has no possible source. False if it is neither.
bool explain_lists(const Excerpt& excerpt, const Proof& proof, Explanation& e);

// A refutation that rests on aggregates: shows them, and the transactions that may have written
// their rows.
void explain_wrong_aggregates(const History& h, const Proof& proof, Explanation& e);

// Explains that every order of the operations on a key was tried: where they all end, at an
// operation whose response nothing explains, and the operations at the same time or shortly before
// it.
void explain_exhausted(const History& h, const Exhausted& exhausted, Explanation& e);

}  // namespace assay::internal
