// What was done to the database while the transactions of an anomaly ran, the faults that stand in the history, and whose
// outcome nobody knows.
#pragma once

#include "assay/explanation.h"
#include "assay/history.h"

namespace assay::internal {

// Adds a sentence for each fault in between, and where a kill lies between a commit and the transaction that did not
// find it, the question that is to be asked first.
void tell_faults(const History& h, Explanation& e);

// Says of a transaction of unknown outcome why it counts as committed, and how many others of unknown outcome that change the
// same keys ran meanwhile.
void tell_unknown_outcomes(const History& h, Explanation& e);

// Asks first about another run that was found unfinished on the database, if the history's meta names one.
void tell_unfinished_run(const History& h, Explanation& e);

}  // namespace assay::internal
