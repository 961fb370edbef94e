// Incremental topological order (Pearce and Kelly, "A dynamic topological sort algorithm for
// directed acyclic graphs", JEA 2006).
//
// Every vertex has a unique position, and every edge leads to a higher one.
//
//   positions a=0 b=1 c=2 d=3, edges a→b, c→d; now insert d→a:
//   forward from a among positions ≤ 3: a, b        (meeting d would be a cycle)
//   backward from d among positions ≥ 0: d, c
//   the four positions are reassigned, backward set first: c=0 d=1 a=2 b=3
//
// An edge that already points upwards costs one comparison; removing edges costs nothing, since an
// order stays valid. So the work depends on how good the order is to begin with, which is why it
// starts from client times or from the saturated graph. Cost of one insertion: the edges of the
// vertices between the two ends that are connected to them.

#include "graph/incremental_order.h"

#include <algorithm>

namespace assay::internal {

IncrementalOrder::IncrementalOrder(Digraph& graph, std::span<const Vertex> order)
    : graph_(graph),
      position_(graph.vertices()),
      mark_(graph.vertices(), 0),
      parent_(graph.vertices(), 0) {
  renew(order);
}

void IncrementalOrder::renew(std::span<const Vertex> order) {
  order_.assign(order.begin(), order.end());
  for (uint32_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
}

bool IncrementalOrder::insert(Arc arc) {
  if (position_[arc.from] >= position_[arc.to]) {
    ++stamp_;
    if (!search_forward(arc.to, arc.from)) return false;
    search_backward(arc.from, position_[arc.to]);
    reorder();
  }
  graph_.add(arc);
  return true;
}

// Visits what `start` reaches up to the position of `goal`; false, with the path, if that is `goal`
// itself. Breadth first, so that the path has few edges.
bool IncrementalOrder::search_forward(Vertex start, Vertex goal) {
  const uint32_t upper = position_[goal];
  forward_.assign(1, start);
  mark_[start] = stamp_;
  if (start == goal) {
    path_.assign(1, start);
    return false;
  }
  for (size_t next = 0; next < forward_.size(); ++next) {
    const Vertex u = forward_[next];
    const bool open = graph_.each_out(u, [&](Vertex v) {
      if (v == goal) {
        parent_[v] = u;
        return false;
      }
      if (position_[v] < upper && mark_[v] != stamp_) {
        mark_[v] = stamp_;
        parent_[v] = u;
        forward_.push_back(v);
      }
      return true;
    });
    if (!open) {
      path_.clear();
      for (Vertex v = goal; v != start; v = parent_[v]) path_.push_back(v);
      path_.push_back(start);
      std::reverse(path_.begin(), path_.end());
      return false;
    }
  }
  return true;
}

void IncrementalOrder::search_backward(Vertex start, uint32_t lower) {
  backward_.assign(1, start);
  mark_[start] = stamp_;
  for (size_t next = 0; next < backward_.size(); ++next) {
    graph_.each_in(backward_[next], [&](Vertex u) {
      if (position_[u] > lower && mark_[u] != stamp_) {
        mark_[u] = stamp_;
        backward_.push_back(u);
      }
      return true;
    });
  }
}

void IncrementalOrder::reorder() {
  const auto by_position = [this](Vertex a, Vertex b) { return position_[a] < position_[b]; };
  std::sort(forward_.begin(), forward_.end(), by_position);
  std::sort(backward_.begin(), backward_.end(), by_position);
  free_.clear();
  for (Vertex v : backward_) free_.push_back(position_[v]);
  for (Vertex v : forward_) free_.push_back(position_[v]);
  std::sort(free_.begin(), free_.end());
  size_t next = 0;
  const auto place = [&](Vertex v) {
    position_[v] = free_[next++];
    order_[position_[v]] = v;
  };
  for (Vertex v : backward_) place(v);
  for (Vertex v : forward_) place(v);
  moved_ += free_.size();
}

}  // namespace assay::internal
