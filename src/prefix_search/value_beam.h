// Finds an order of events by the values of keys, not by their writers. See value_beam.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/budget.h"
#include "assay/level.h"
#include "infer/problem.h"

namespace assay::internal {

struct ValueOrder {
  // The events of the nodes that take effect, as Events numbers them (infer/scheduler.h).
  std::vector<uint32_t> events;
  // The nodes that take effect although they need not; ascending.
  std::vector<Node> effective;
};

// Returns an order that keeps session order and in which every read returns the current value of
// its key. nullopt if `most_states` states do not lead to one, or if the history has operations
// other than reads and writes of single values, or very long transactions. Times and stated orders
// are ignored. `level`: split or single, without real time.
std::optional<ValueOrder> search_by_values(const Problem& problem, const LevelInfo& level,
                                           uint64_t most_states, Budget& budget);

}  // namespace assay::internal
