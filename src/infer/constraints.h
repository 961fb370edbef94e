// How much is left open, in the counting of PolySI. See constraints.cc.
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

// Which keys the transaction that stands for the initial state writes.
enum class InitialWrites : uint8_t { none, keys_read_initially, every_key };

// Only pairs of which `open` is true count; the initial transaction with every other. Nothing if
// the pairs are too many to go through.
std::optional<ConstraintCount> count_constraints(const Problem& problem, InitialWrites initial,
                                                 const std::function<bool(Node, Node)>& open);

}  // namespace assay::internal
