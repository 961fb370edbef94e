// What the server calls the transactions of an anomaly, and where its log has them.
#pragma once

#include <string>
#include <vector>

#include "assay/explanation.h"
#include "assay/history.h"

namespace assay::internal {

// Adds a sentence, if the history has events that say so: {"event":"logged","txn":"3-17","xid":"739","position":"0/15706F8"}.
void tell_server_names(const History& h, Explanation& e);
// The transactions that the log has, in its order, by name.
std::vector<std::string> logged_transactions(const History& h);

}  // namespace assay::internal
