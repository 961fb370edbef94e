// Incremental topological order (Pearce and Kelly, "A dynamic topological sort algorithm for
// directed acyclic graphs", JEA 2006).
//
// Every vertex has a unique position, and every edge leads to a higher one.
//
//   positions a=0 b=1 c=2 d=3, edges a→b, c→d; now insert d→a:
//   forward from a among positions ≤ 3: a, b        (meeting what the other search reached would be
//                                                   a cycle)
//   backward from d among positions ≥ 0: d, c
//   a and b are placed after d: c=0 d=1 a=2 b=3
//
// An edge that already points upwards costs one comparison; removing edges costs nothing, since an
// order stays valid. So the work depends on how good the order is to begin with, which is why it
// starts from client times or from the saturated graph.
//
// Both searches go on at once, and end when they meet or one has nothing left: a cycle of a dozen
// edges among thousands of vertices is met after a few hundred (Haeupler, Kavitha, Mathew, Sen,
// Tarjan, TALG 2012, search in both directions for the same reason). One finished side can be
// placed beyond the other end, if the vertices between are skipped once. Cost of one insertion: the
// edges of the vertices that the smaller search reaches, about twice, and the positions between the
// ends or the edges of the larger one, whichever are fewer.

#include "graph/incremental_order.h"

#include <algorithm>

#include "base/invariants.h"

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
  if constexpr (kInvariantsChecked) check_invariants();
}

void IncrementalOrder::check_invariants() const {
  // A graph with a cycle has no order of all vertices, and is not searched.
  if (order_.size() + graph_.edges() > kMostChecked || order_.size() < graph_.vertices()) return;
  for (uint32_t i = 0; i < order_.size(); ++i)
    check_invariant(position_[order_[i]] == i, "positions of an order are those of its vertices");
  for (Vertex u = 0; u < graph_.vertices(); ++u)
    check_invariant(graph_.each_out(u, [&](Vertex v) { return position_[u] < position_[v]; }),
                    "every edge leads to a higher position");
}

bool IncrementalOrder::insert(Arc arc) {
  if (position_[arc.from] >= position_[arc.to] && !search(arc.to, arc.from)) return false;
  graph_.add(arc);
  if constexpr (kInvariantsChecked) check_invariants();
  return true;
}

// Visits, among the positions between the two, what `start` reaches and what reaches `goal`; false,
// with a path from `start` to `goal`, if the two searches meet. They are breadth first, and the
// side with fewer vertices to visit goes next: so the path has few edges, and is met after a small
// part of what either side reaches. If one side ends without having met the other, there is no
// path, and `start` is placed after `goal`.
bool IncrementalOrder::search(Vertex start, Vertex goal) {
  lower_ = position_[start];
  upper_ = position_[goal];
  if (stamp_ > kMostStamps) {
    std::fill(mark_.begin(), mark_.end(), 0);
    stamp_ = 0;
  }
  stamp_ += 2;
  ahead_.begin(start, stamp_);
  behind_.begin(goal, stamp_ + 1);
  mark_[goal] = behind_.stamp;
  if (start == goal) {
    path_.assign(1, start);
    return false;
  }
  mark_[start] = ahead_.stamp;
  while (!ahead_.done() && !behind_.done()) {
    const bool forward = ahead_.waiting() <= behind_.waiting();
    if (!(forward ? visit(ahead_, behind_, true) : visit(behind_, ahead_, false))) return false;
  }
  // One side has ended, so the other cannot meet it any more.
  const auto few_between = [&] {
    return upper_ - lower_ < kPositionsPerVertex * (ahead_.reached.size() + behind_.reached.size());
  };
  while (!few_between() && !ahead_.done()) visit(ahead_, behind_, true);
  while (!few_between() && !behind_.done()) visit(behind_, ahead_, false);
  const bool forward =
      ahead_.done() && (!behind_.done() || ahead_.reached.size() <= behind_.reached.size());
  if (few_between())
    pass_over(forward ? ahead_ : behind_, forward);
  else
    exchange();
  return true;
}

// Visits the next vertex of a side. False, with the path, if it meets the other side.
bool IncrementalOrder::visit(Side& side, const Side& other, bool forward) {
  const Vertex u = side.reached[side.next++];
  Vertex met = u;
  const auto take = [&](Vertex v) {
    if (position_[v] < lower_ || position_[v] > upper_ || mark_[v] == side.stamp) return true;
    if (mark_[v] == other.stamp) {
      met = v;
      return false;
    }
    mark_[v] = side.stamp;
    parent_[v] = u;
    side.reached.push_back(v);
    return true;
  };
  if (forward ? graph_.each_out(u, take) : graph_.each_in(u, take)) return true;
  path_.clear();
  for (Vertex v = forward ? u : met; v != ahead_.reached.front(); v = parent_[v])
    path_.push_back(v);
  path_.push_back(ahead_.reached.front());
  std::reverse(path_.begin(), path_.end());
  for (Vertex v = forward ? met : u; v != behind_.reached.front(); v = parent_[v])
    path_.push_back(v);
  path_.push_back(behind_.reached.front());
  return false;
}

// Moves what `start` reaches after `goal`, or what reaches `goal` before `start`; the other
// vertices between the two close up.
void IncrementalOrder::pass_over(const Side& side, bool forward) {
  free_.clear();
  uint32_t next = forward ? lower_ : upper_;
  const uint32_t step = forward ? 1 : ~0U;
  for (uint32_t i = next, left = upper_ - lower_ + 1; left > 0; i += step, --left) {
    if (mark_[order_[i]] == side.stamp) {
      free_.push_back(order_[i]);
    } else {
      place(order_[i], next);
      next += step;
    }
  }
  for (Vertex v : free_) {
    place(v, next);
    next += step;
  }
}

// Deals out the places of both sides again, first to what reaches `goal`.
void IncrementalOrder::exchange() {
  const auto by_position = [this](Vertex a, Vertex b) { return position_[a] < position_[b]; };
  free_.clear();
  for (Side* side : {&behind_, &ahead_}) {
    std::sort(side->reached.begin(), side->reached.end(), by_position);
    for (Vertex v : side->reached) free_.push_back(position_[v]);
  }
  std::sort(free_.begin(), free_.end());
  size_t next = 0;
  for (Vertex v : behind_.reached) place(v, free_[next++]);
  for (Vertex v : ahead_.reached) place(v, free_[next++]);
}

}  // namespace assay::internal
