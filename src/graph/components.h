// Strongly connected components of a directed graph. See components.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/digraph.h"

namespace assay::internal {

struct Components {
  std::vector<uint32_t> of;  // indexed by vertex; an edge never leads to a component with a higher
                             // number
  uint32_t count = 0;
};

Components strong_components(const Digraph& graph);

}  // namespace assay::internal
