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

  // The path whose forced orders are cheapest to prove, over edges that were in the graph when
  // `edges_known` had been added; there must be one. Returns consecutive vertices, including both
  // ends.
  std::vector<Vertex> find(Vertex from, Vertex to, uint32_t edges_known);

  // Notes that the proof contains this forced order in any case. False if it did before.
  bool add_proved(uint32_t forced);

 private:
  uint64_t cost(uint32_t forced) const;

  const Digraph& graph_;
  const KnownEdges& known_;
  const IncrementalOrder* order_;
  std::vector<uint8_t> proved_;  // indexed by forced order
  std::vector<uint32_t> mark_;   // indexed by vertex; == stamp_: reached in this search
  std::vector<uint64_t> cost_;   // indexed by vertex, if reached
  std::vector<Vertex> parent_;   // indexed by vertex, if reached
  uint32_t stamp_ = 0;
};

}  // namespace assay::internal
