// Whether linearizability is defined for a history: of one operation on one key each.
#pragma once

#include <optional>
#include <vector>

#include "assay/budget.h"
#include "assay/history.h"

namespace assay::internal {

// Why it is not defined for these transactions, if it is not.
std::optional<Unknown> no_single_operation(const History& history, const std::vector<TxnId>& txns);

// Matching ends at a read that no transaction explains; the writers of the values that other reads
// returned count nevertheless, in part or whole. Adds the writers of unknown outcome to `counting`.
void add_unknown_that_were_read(const History& history, std::vector<TxnId>& counting);

}  // namespace assay::internal
