// Version orders that the history states, in known orders and in lists that were read, as pairs of writers
// that count.
#pragma once

#include <vector>

#include "infer/reads_from.h"

namespace assay::internal {

std::vector<StatedOrder> stated_orders(const History& history, const ReadsFrom& rf);
// What finding them takes, at most.
uint64_t stated_orders_bytes(const History& history, const ReadsFrom& rf);

}  // namespace assay::internal
