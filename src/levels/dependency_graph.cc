// Paths and cycles of dependencies of some kinds.
//
//   T1 -ww x-> T2    T1 -wr y-> T2    T2 -rw z-> T1      an arc each way; the cycle is T1 -ww x->
//                                                        T2 -rw z-> T1
//
// Of several dependencies from one transaction to another the graph has one arc. A path is found in
// the graph, and then the first dependency for each of its arcs, by binary search among the
// dependencies, which are sorted by their ends. Cost: building is linear; a path takes time linear
// in the graph, and a logarithm for each arc.

#include "levels/dependency_graph.h"

#include <algorithm>

#include "graph/components.h"
#include "levels/counting_sort.h"

namespace assay::internal {

DependencyGraph::DependencyGraph(const std::vector<Dependency>& all, size_t nodes,
                                 bool (*belongs)(EdgeKind))
    : all_(&all) {
  ids_.reserve(all.size());
  for (uint32_t i = 0; i < all.size(); ++i)
    if (belongs(all[i].kind)) ids_.push_back(i);
  ids_.shrink_to_fit();
  counting_sort(ids_, nodes, [&](uint32_t i) { return all[i].to; });
  counting_sort(ids_, nodes, [&](uint32_t i) { return all[i].from; });
  std::vector<Arc> arcs;
  arcs.reserve(ids_.size());
  for (const uint32_t i : ids_) {
    const Arc arc{all[i].from, all[i].to};
    if (arcs.empty() || !(arcs.back() == arc)) arcs.push_back(arc);
  }
  graph_ = Digraph(nodes, arcs);
}

DependencyGraph::Path DependencyGraph::way(Node from, Node to) const {
  const std::vector<Vertex> nodes = shortest_path(graph_, from, to, [](Vertex) { return true; });
  Path path;
  for (size_t i = 0; i + 1 < nodes.size(); ++i) path.push_back(between(nodes[i], nodes[i + 1]));
  return path;
}

DependencyGraph::Path DependencyGraph::cycle() const {
  const std::vector<Vertex> nodes = find_cycle(graph_);
  Path path;
  for (size_t i = 0; i < nodes.size(); ++i)
    path.push_back(between(nodes[i], nodes[(i + 1) % nodes.size()]));
  return path;
}

// The first dependency between two nodes; there must be one.
uint32_t DependencyGraph::between(Node from, Node to) const {
  return *std::lower_bound(ids_.begin(), ids_.end(), std::pair(from, to),
                           [this](uint32_t i, const auto& ends) {
                             return std::pair((*all_)[i].from, (*all_)[i].to) < ends;
                           });
}

}  // namespace assay::internal
