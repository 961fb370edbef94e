// Paths over known edges, for the cycles of a proof. See known_paths.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/incremental_order.h"
#include "infer/known_edges.h"

namespace assay::internal {

class KnownPaths {
 public:
  // `known`: the reasons of the edges added to `graph`, in the same order. `order`: a topological
  // order of the graph, used to bound the search; may be null. All are kept by reference and must
  // not change.
  KnownPaths(const Digraph& graph, const KnownEdges& known, const IncrementalOrder* order)
      : graph_(graph), known_(known), order_(order), proved_(known.forced.size(), 0) {}

  // The path whose forced orders are cheapest to prove, over edges of the graph that were there
  // when `edges_known` had been added; there must be one. Consecutive vertices, both ends included.
  std::vector<Vertex> find(Vertex from, Vertex to, uint32_t edges_known);

  // From now on the proof has this forced order anyway. False if it had it before.
  bool add_proved(uint32_t forced);

 private:
  uint64_t cost(uint32_t forced) const;

  const Digraph& graph_;
  const KnownEdges& known_;
  const IncrementalOrder* order_;
  std::vector<uint8_t> proved_;  // per forced order
  std::vector<uint32_t> mark_;   // per vertex; == stamp_: reached in this search
  std::vector<uint64_t> cost_;   // per vertex reached
  std::vector<Vertex> parent_;   // per vertex reached
  uint32_t stamp_ = 0;
};

}  // namespace assay::internal
