// A topological order that is kept while edges come and go: the acyclicity test inside the search
// and the saturation. See incremental_order.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/digraph.h"

namespace assay::internal {

class IncrementalOrder {
 public:
  // `graph` must be acyclic and `order` a topological order of it; both are shared with the caller,
  // who adds edges to the graph only through this object.
  IncrementalOrder(Digraph& graph, std::span<const Vertex> order);

  // Adds the edge if it closes no cycle. Otherwise the graph stays as it is and path_back() says
  // why.
  bool insert(Arc arc);
  // Takes another order instead, after edges were added to the graph by other means: a topological order of it.
  void renew(std::span<const Vertex> order);
  // Takes back the edge inserted last. The order stays valid.
  void pop() { graph_.pop(); }

  // After a failed insert(u→v): the vertices of a path v → … → u.
  const std::vector<Vertex>& path_back() const { return path_; }

  uint32_t position(Vertex v) const { return position_[v]; }
  bool before(Vertex a, Vertex b) const { return position_[a] < position_[b]; }
  // The vertices in the current order.
  std::span<const Vertex> order() const { return order_; }
  // Vertices moved by insertions so far; a measure of work.
  uint64_t moved() const { return moved_; }

 private:
  bool search_forward(Vertex start, Vertex goal);
  void search_backward(Vertex start, uint32_t lower);
  void reorder();

  Digraph& graph_;
  std::vector<Vertex> order_;
  std::vector<uint32_t> position_;
  std::vector<uint32_t> mark_;  // == stamp_: visited in this search
  std::vector<Vertex> parent_;
  std::vector<Vertex> forward_, backward_, path_;
  std::vector<uint32_t> free_;
  uint32_t stamp_ = 0;
  uint64_t moved_ = 0;
};

}  // namespace assay::internal
