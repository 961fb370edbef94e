// The writers of each key where transactions follow each other in chains.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

#include "infer/problem.h"

namespace assay::internal {

struct ChainWriter {
  uint32_t chain;
  uint32_t place;  // in the chain
  Node node;
  friend auto operator<=>(const ChainWriter&, const ChainWriter&) = default;
};

// The writers of each key, sorted by chain and place. `place_of` gives a node's chain and its place
// there. The cost is that of sorting.
template <class PlaceOf>
Rows<ChainWriter> writers_by_chain(const Problem& problem, PlaceOf place_of) {
  Rows<ChainWriter> rows;
  rows.items.reserve(problem.writes.size());
  for (KeyId key = 0; key < problem.keys(); ++key) {
    for (const WriteId w : problem.key_writers(key)) {
      const Node n = problem.writes.node[w];
      const auto [chain, place] = place_of(n);
      rows.items.push_back({chain, place, n});
    }
    std::sort(rows.items.begin() + rows.begin.back(), rows.items.end());
    rows.close();
  }
  return rows;
}

}  // namespace assay::internal
