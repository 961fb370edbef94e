// How much is left open, counted as PolySI counts. See constraints.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "infer/problem.h"

namespace assay::internal {

struct ConstraintCount {
  uint64_t constraints = 0;
  uint64_t dependencies = 0;  // on the two sides of all constraints together
  friend bool operator==(const ConstraintCount&, const ConstraintCount&) = default;
};

// Which keys are written by the transaction that represents the initial state.
enum class InitialWrites : uint8_t { none, keys_read_initially, every_key };

// Counts only the pairs for which `open` is true, and those of the initial transaction with every
// other. nullopt if there are too many pairs to go through.
std::optional<ConstraintCount> count_constraints(const Problem& problem, InitialWrites initial,
                                                 const std::function<bool(Node, Node)>& open);

}  // namespace assay::internal
