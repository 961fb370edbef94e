// Mini-transactions: what they are, and which of their shapes a transaction has.
#pragma once

#include <span>
#include <string_view>

#include "assay/history.h"

namespace assay::internal {

// All shapes, whatever the two keys are called, as two letters per operation: "rxrywx" reads x,
// reads y, writes x.
std::span<const std::string_view> mini_shapes();

// The shape of a transaction: one or two reads, at most two writes, at most two keys, and each
// write after a read of its key. Empty if the transaction is not a mini-transaction.
std::string_view mini_shape(const History& history, TxnId t);

}  // namespace assay::internal
