// Parts of a history that can be decided one by one. See decomposition.cc.
#pragma once

#include <vector>

#include "infer/problem.h"

namespace assay::internal {

struct Part {
  std::vector<Node> nodes;  // the nodes that read or write its keys, ascending
  std::vector<KeyId> keys;  // ascending
};

// The history satisfies `level`, which must not be weak, iff each part does. Empty if there are no
// parts worth splitting off.
std::vector<Part> decompose(const Problem& problem, const LevelInfo& level);

}  // namespace assay::internal
