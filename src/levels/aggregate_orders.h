// An order that explains aggregates, where one is known that explains everything else. See aggregate_orders.cc.
#pragma once

#include <optional>

#include "assay/check.h"

namespace assay::internal {

// Nothing if none was found. `base`: an order that satisfies the level but for aggregates, null if none is known. How copies of
// the history are decided is said by `options`, each within a share of what is left of `budget`.
std::optional<Order> order_with_aggregates(const History& history, LevelId level, const Order* base,
                                           const CheckOptions& options, Budget& budget);

}  // namespace assay::internal
