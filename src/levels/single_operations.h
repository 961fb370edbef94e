// Whether linearizability is defined for a history: each transaction must be one operation on one
// key.
#pragma once

#include <optional>
#include <vector>

#include "assay/budget.h"
#include "assay/history.h"

namespace assay::internal {

// Why it is not defined for these transactions; nullopt if it is.
std::optional<Unknown> no_single_operation(const History& history, const std::vector<TxnId>& txns);

// Adds the writers of unknown outcome that were read to `counting`. Matching ends at a read that no
// transaction explains, but the writers of the values that other reads returned count nevertheless,
// whether or not all reads were matched.
void add_unknown_that_were_read(const History& history, std::vector<TxnId>& counting);

}  // namespace assay::internal
