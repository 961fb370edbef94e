// Accepting without matching: an order of the transactions in which every read returns the value
// that its key holds then. See replay_by_value.cc.
#pragma once

#include <vector>

#include "assay/budget.h"
#include "assay/history.h"
#include "assay/level.h"

namespace assay::internal {

// Whether the history has nothing but reads and writes of values, and states nothing of versions
// and their order.
bool may_replay_by_value(const History& history);

// All committed transactions and those of unknown outcome that were read, in such an order that
// keeps sessions and, if the level includes it, real time. Empty if none is found, which says
// nothing, or the budget ends. The level has one event a transaction. Holds 4 bytes a version, 24 a
// key and at most 36 a transaction.
std::vector<TxnId> order_by_value(const History& history, const LevelInfo& level, Budget& budget);

}  // namespace assay::internal
