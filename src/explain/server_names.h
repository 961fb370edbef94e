// What the user and the server call the transactions of an anomaly, and where its log has them.
#pragma once

#include "assay/explanation.h"
#include "assay/history.h"

namespace assay::internal {

// Adds a sentence, if the history has events that say so: {"event":"logged","txn":"3-17","xid":"739","position":"0/15706F8"}.
void tell_server_names(const History& h, Explanation& e);

// Says which of the user's own transactions these are, if their meta does: {"ran":"leave (on-call.sql:7)"}.
void tell_own_names(const History& h, Explanation& e);

}  // namespace assay::internal
