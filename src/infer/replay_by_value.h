// Accepting without matching: an order of the transactions in which every read returns the value
// that its key holds at that point. See replay_by_value.cc.
#pragma once

#include <vector>

#include "assay/budget.h"
#include "assay/history.h"
#include "assay/level.h"

namespace assay::internal {

// Whether the history has nothing but reads and writes of values, and states nothing of versions
// and their order.
bool may_replay_by_value(const History& history);

// Such an order of all committed transactions and those of unknown outcome that were read; it keeps
// sessions and, if the level includes it, real time. Empty if none is found, which proves nothing,
// or if the budget runs out. The level must have one event per transaction. Holds 4 bytes per
// version, 24 per key and at most 36 per transaction.
std::vector<TxnId> order_by_value(const History& history, const LevelInfo& level, Budget& budget);

}  // namespace assay::internal
