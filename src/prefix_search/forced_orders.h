// Finds which of two writers of a key must come first because of the reads. See forced_orders.cc.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "infer/problem.h"

namespace assay::internal {

// Transactions that follow one another (chains), and the chain and index of each node.
struct Chains {
  Rows<Node> nodes;              // per chain
  std::vector<uint32_t> of;      // per node: its chain
  std::vector<uint32_t> place;   // per node: its index in its chain
  std::vector<Node> also_after;  // per node: another that it comes after, or kNone
};

// Returns pairs (before, after) of writers of a key. `known` are such pairs that are known already
// and are not repeated. `ordered`: a writer has committed before a later writer of the same key
// reads, as at all levels except prefix consistency.
std::vector<std::pair<Node, Node>> forced_orders(const Problem& problem, const Chains& chains,
                                                 std::vector<std::pair<Node, Node>> known,
                                                 bool ordered);

}  // namespace assay::internal
