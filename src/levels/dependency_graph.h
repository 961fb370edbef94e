// Dependencies of some kinds as a graph, and the dependency of each arc.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/digraph.h"
#include "levels/dependencies.h"

namespace assay::internal {

// A graph with one vertex per node. Refers to the dependencies of which it is made, which must
// outlive it.
class DependencyGraph {
 public:
  using Path = std::vector<uint32_t>;  // indices of dependencies, each of which begins where the
                                       // previous one ends

  DependencyGraph() = default;
  DependencyGraph(const std::vector<Dependency>& all, size_t nodes, bool (*belongs)(EdgeKind));

  const Digraph& graph() const { return graph_; }
  // The indices of the dependencies, sorted by their ends.
  const std::vector<uint32_t>& dependencies() const { return ids_; }
  // A cycle; there must be one.
  Path cycle() const;
  // A shortest path from one node to another; there must be one.
  Path way(Node from, Node to) const;

 private:
  uint32_t between(Node from, Node to) const;

  const std::vector<Dependency>* all_ = nullptr;
  std::vector<uint32_t> ids_;
  Digraph graph_;
};

}  // namespace assay::internal
