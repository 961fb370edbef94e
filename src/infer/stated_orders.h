// Version orders that the history states, in known orders and in lists that were read, as pairs of
// counting writers.
#pragma once

#include <vector>

#include "base/parallel.h"
#include "infer/problem.h"

namespace assay::internal {

// The stated orders of a whole problem; uses its counting transactions, their writes and reads.
std::vector<StatedOrder> stated_orders(const Problem& problem);
// The bytes that finding them takes at most.
uint64_t stated_orders_bytes(const Problem& problem);

// Returns for each write a node that is stated to come before it, the last one that the statements
// name; kNone if none does. If an order is stated completely, this is the writer of the version
// right before.
std::vector<Node> stated_before(const Problem& problem, unsigned threads = 1);

// Calls visit(order, write of order.after) for each stated order; those of a key come in the order
// of the statements and on one thread.
template <class Visit>
void each_stated(const Problem& problem, unsigned threads, const Visit& visit) {
  share_jobs(threads, threads, [&](const auto& next) {
    for (size_t part = next(); part < threads; part = next())
      for (const StatedOrder& order : problem.stated)
        if (order.key % threads == part) visit(order, problem.write_of(order.after, order.key));
  });
}

}  // namespace assay::internal
