// Biconnected components of an undirected graph. See blocks.cc.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/digraph.h"

namespace assay::internal {

using Link = std::pair<Vertex, Vertex>;  // has no direction, and two different ends

struct Blocks {
  std::vector<uint32_t> of_link;  // indexed by link
  uint32_t count = 0;
};

Blocks biconnected_components(size_t vertices, std::span<const Link> links);

}  // namespace assay::internal
