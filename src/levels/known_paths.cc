// Which path makes the shortest proof?
//
// Edges that the history itself shows need no proof. A derived edge needs the forced order it
// follows from, whose own proof is a cycle that may use orders derived before it, and so on. The
// number of steps that an order needs is not known until they are written, so it is estimated: an
// order derived in round r costs 2^r, and one that the proof contains already costs nothing.
//
//   T1 → T2 derived in round 3, T1 → T3 and T3 → T2 in round 0:    by T3, at cost 2 instead of 8
//
// Dijkstra's algorithm finds the cheapest path. Each edge leads forwards in a topological order, so
// vertices after the end of the path are skipped. Cost: the edges between the two ends, with a
// heap.

#include "levels/known_paths.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace assay::internal {

bool KnownPaths::add_proved(uint32_t forced) { return std::exchange(proved_[forced], 1) == 0; }

uint64_t KnownPaths::cost(uint32_t forced) const {
  constexpr uint32_t kMostDoublings = 16;
  if (proved_[forced] != 0) return 0;
  return uint64_t{1} << std::min(known_.forced[forced].round, kMostDoublings);
}

std::vector<Vertex> KnownPaths::find(Vertex from, Vertex to, uint32_t edges_known) {
  if (mark_.empty()) {
    mark_.assign(graph_.vertices(), 0);
    cost_.assign(graph_.vertices(), 0);
    parent_.assign(graph_.vertices(), 0);
  }
  ++stamp_;
  using Reached = std::pair<uint64_t, Vertex>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue;
  const auto reach = [&](Vertex v, uint64_t at_cost) {
    mark_[v] = stamp_;
    cost_[v] = at_cost;
    queue.push({at_cost, v});
  };
  reach(from, 0);
  while (queue.top().second != to) {
    const Vertex u = queue.top().second;
    const bool outdated = queue.top().first > cost_[u];
    queue.pop();
    if (outdated) continue;
    graph_.each_out_edge(u, [&](Vertex v, uint32_t index) {
      const bool derived = index != Digraph::kBuiltIn;
      if (derived && index >= edges_known) return;
      if (order_ != nullptr && order_->before(to, v)) return;
      const uint64_t there = cost_[u] + (derived ? cost(known_.edges[index].forced) : 0);
      if (mark_[v] == stamp_ && cost_[v] <= there) return;
      parent_[v] = u;
      reach(v, there);
    });
  }
  std::vector<Vertex> path{to};
  while (path.back() != from) path.push_back(parent_[path.back()]);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace assay::internal
