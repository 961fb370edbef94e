// Version orders that the history states, in known orders and in lists that were read, as pairs of writers
// that count.
#pragma once

#include <vector>

#include "infer/problem.h"

namespace assay::internal {

// Of a whole; looks at who counts, and what they wrote and read.
std::vector<StatedOrder> stated_orders(const Problem& problem);
// What finding them takes, at most.
uint64_t stated_orders_bytes(const Problem& problem);

// Of each write a node that is stated to come before it, the last one that the statements name; kNone if none does. Where orders
// are stated whole, that of the version right before.
std::vector<Node> stated_before(const Problem& problem);

}  // namespace assay::internal
