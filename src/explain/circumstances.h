// Further facts about the transactions of an anomaly: faults injected while they ran, unknown
// outcomes, and their names in the application and on the server.
#pragma once

#include "assay/explanation.h"
#include "assay/history.h"

namespace assay::internal {

// Adds a sentence for
//   - each fault in between (where a kill lies between a commit and the transaction that did not
//     find it, the question to be asked first);
//   - each transaction of unknown outcome: why it counts as committed, and how many others of
//     unknown outcome that change the same keys ran meanwhile;
//   - the user's own transactions, if their meta says which they are:
//     {"ran":"leave (on-call.sql:7)"};
//   - what the server calls them, if the history has events that say so:
//     {"event":"logged","txn":"3-17","xid":"739","position":"0/15706F8"}.
// If the history's meta names another run that was found unfinished on the database, the first
// question is about that.
void add_circumstances(const History& h, Explanation& e);

}  // namespace assay::internal
