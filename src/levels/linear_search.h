// Linearizability of one key by search, whatever its operations are. See linear_search.cc.
#pragma once

#include <span>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "levels/operation_times.h"

namespace assay::internal {

struct SearchResult {
  Outcome outcome = Outcome::unknown;
  Unknown reason;               // of an unknown
  std::vector<TxnId> sequence;  // satisfied: of unknown outcomes only those that took effect
  TxnId until = kNone;          // violated: no order explains what was returned until this one's
                                // response
};

// `certain` are the operations of committed transactions on one key, `possible` those of unknown
// outcome, which may take effect or not. Each transaction is one operation.
SearchResult search_linearization(const History& history, const OperationTimes& times,
                                  std::span<const TxnId> certain, std::span<const TxnId> possible,
                                  Budget& budget);

}  // namespace assay::internal
