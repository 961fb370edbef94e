// Where the transactions are in a database's log:
// {"event":"logged","txn":"3-17","xid":"739","position":"0/15706F8"}, one event per transaction, in
// the log's order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

// The transaction that the event names, unescaped; empty if the event is of another kind. The
// events that `run` and `generate` write begin with "event" and "txn", and their names need no
// escapes.
std::string_view logged_name(const Event& event);
// The names of the transactions in the log, in its order.
std::vector<std::string> logged_transactions(const History& h);

}  // namespace assay::internal
