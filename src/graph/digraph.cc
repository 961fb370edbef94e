// Topological order by Kahn's algorithm, and cycles in what it leaves over.
//
//   a → b → c → a, c → d      Kahn orders nothing: a, b, c wait for each other and d for c
//
// Trimming the leftover from the other side too (d has no successor) leaves exactly the vertices
// that lie on or between cycles; a breadth-first search from one of them back to itself gives a
// short cycle. Searching from a few starts and keeping the least keeps counterexamples small at
// bounded cost. O(edges) a start.

#include "graph/digraph.h"

#include <algorithm>
#include <queue>

namespace assay {
namespace {

constexpr size_t kCycleStarts = 64;

std::vector<uint32_t> in_degrees(const Digraph& graph) {
  std::vector<uint32_t> degree(graph.vertices(), 0);
  for (Vertex u = 0; u < graph.vertices(); ++u) {
    graph.each_out(u, [&](Vertex v) {
      ++degree[v];
      return true;
    });
  }
  return degree;
}

// Vertices neither before nor after every cycle.
std::vector<uint8_t> cyclic_core(const Digraph& graph) {
  std::vector<uint8_t> in_core(graph.vertices(), 1);
  for (Vertex v : topological_order(graph)) in_core[v] = 0;
  std::vector<uint32_t> out_degree(graph.vertices(), 0);
  std::vector<Vertex> ends;
  for (Vertex u = 0; u < graph.vertices(); ++u) {
    if (!in_core[u]) continue;
    graph.each_out(u, [&](Vertex v) {
      out_degree[u] += in_core[v];
      return true;
    });
    if (out_degree[u] == 0) ends.push_back(u);
  }
  while (!ends.empty()) {
    const Vertex v = ends.back();
    ends.pop_back();
    in_core[v] = 0;
    graph.each_in(v, [&](Vertex u) {
      if (in_core[u] && --out_degree[u] == 0) ends.push_back(u);
      return true;
    });
  }
  return in_core;
}

// Shortest path start → … → start inside the core, at most `limit` vertices; empty if none.
std::vector<Vertex> cycle_through(const Digraph& graph, Vertex start,
                                  const std::vector<uint8_t>& in_core, size_t limit) {
  std::vector<Vertex> parent(graph.vertices(), 0xFFFFFFFF);
  std::vector<Vertex> frontier{start};
  std::vector<Vertex> next;
  Vertex last = 0xFFFFFFFF;
  for (size_t length = 1; length <= limit && last == 0xFFFFFFFF && !frontier.empty(); ++length) {
    next.clear();
    for (Vertex u : frontier) {
      graph.each_out(u, [&](Vertex v) {
        if (v == start) {
          last = u;
          return false;
        }
        if (in_core[v] && parent[v] == 0xFFFFFFFF) {
          parent[v] = u;
          next.push_back(v);
        }
        return true;
      });
      if (last != 0xFFFFFFFF) break;
    }
    frontier.swap(next);
  }
  if (last == 0xFFFFFFFF) return {};
  std::vector<Vertex> cycle;
  for (Vertex v = last; v != start; v = parent[v]) cycle.push_back(v);
  cycle.push_back(start);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

}  // namespace

Digraph::Digraph(size_t vertices, std::span<const Arc> arcs)
    : out_begin_(vertices + 1, 0), in_begin_(vertices + 1, 0), out_(arcs.size()), in_(arcs.size()) {
  for (const Arc& arc : arcs) {
    ++out_begin_[arc.from + 1];
    ++in_begin_[arc.to + 1];
  }
  for (size_t v = 0; v < vertices; ++v) {
    out_begin_[v + 1] += out_begin_[v];
    in_begin_[v + 1] += in_begin_[v];
  }
  std::vector<uint32_t> next_out(out_begin_.begin(), out_begin_.end() - 1);
  std::vector<uint32_t> next_in(in_begin_.begin(), in_begin_.end() - 1);
  for (const Arc& arc : arcs) {
    out_[next_out[arc.from]++] = arc.to;
    in_[next_in[arc.to]++] = arc.from;
  }
}

uint32_t Digraph::find(Arc arc) const {
  const auto begin = out_.begin() + out_begin_[arc.from];
  const auto end = out_.begin() + out_begin_[arc.from + 1];
  if (std::find(begin, end, arc.to) != end) return kBuiltIn;
  uint32_t least = kEnd;
  if (first_out_.empty()) return least;
  for (uint32_t e = first_out_[arc.from]; e != kEnd; e = added_[e].next_out) {
    if (added_[e].to == arc.to) least = e;  // the list runs from the newest to the oldest
  }
  return least;
}

void Digraph::add(Arc arc) {
  if (first_out_.empty()) {
    first_out_.assign(vertices(), kEnd);
    first_in_.assign(vertices(), kEnd);
  }
  const uint32_t id = static_cast<uint32_t>(added_.size());
  added_.push_back({arc.from, arc.to, first_out_[arc.from], first_in_[arc.to]});
  first_out_[arc.from] = id;
  first_in_[arc.to] = id;
}

void Digraph::pop() {
  const Added& last = added_.back();
  first_out_[last.from] = last.next_out;
  first_in_[last.to] = last.next_in;
  added_.pop_back();
}

std::vector<Vertex> topological_order(const Digraph& graph, std::span<const uint32_t> rank) {
  std::vector<uint32_t> waiting = in_degrees(graph);
  const auto later = [&](Vertex a, Vertex b) {
    return rank.empty() ? a > b : (rank[a] != rank[b] ? rank[a] > rank[b] : a > b);
  };
  std::priority_queue<Vertex, std::vector<Vertex>, decltype(later)> ready(later);
  for (Vertex v = 0; v < graph.vertices(); ++v) {
    if (waiting[v] == 0) ready.push(v);
  }
  std::vector<Vertex> order;
  order.reserve(graph.vertices());
  while (!ready.empty()) {
    const Vertex u = ready.top();
    ready.pop();
    order.push_back(u);
    graph.each_out(u, [&](Vertex v) {
      if (--waiting[v] == 0) ready.push(v);
      return true;
    });
  }
  return order;
}

std::vector<Vertex> find_cycle(const Digraph& graph) {
  const std::vector<uint8_t> in_core = cyclic_core(graph);
  std::vector<Vertex> best;
  size_t starts = 0;
  for (Vertex v = 0; v < graph.vertices() && starts < kCycleStarts; ++v) {
    if (!in_core[v]) continue;
    ++starts;
    const size_t limit = best.empty() ? graph.vertices() : best.size() - 1;
    std::vector<Vertex> cycle = cycle_through(graph, v, in_core, limit);
    if (!cycle.empty()) best = std::move(cycle);
    if (best.size() == 2) break;
  }
  return best;
}

}  // namespace assay
