// Directed graphs on dense node numbers: a compressed part that is built once and, in addition,
// edges that are added later (and taken back, last first).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay::internal {

using Vertex = uint32_t;

struct Arc {
  Vertex from;
  Vertex to;
  friend bool operator==(const Arc&, const Arc&) = default;
};

// Neighbours in both directions. Memory: 16 bytes per edge and 8 per vertex.
class Digraph {
 public:
  static constexpr uint32_t kEnd = 0xFFFFFFFF;
  static constexpr uint32_t kBuiltIn = 0xFFFFFFFE;

  Digraph() = default;
  // Vertices 0 … vertices-1. Parallel edges are kept; self-loops are a programming error.
  Digraph(size_t vertices, std::span<const Arc> arcs);

  // The memory that building a graph takes, including what only building needs, and the memory that
  // adding edges takes.
  static uint64_t bytes(size_t vertices, size_t arcs);
  uint64_t bytes_to_add(size_t arcs) const;
  void reserve_to_add(size_t arcs) { added_.reserve(added_.size() + arcs); }

  size_t vertices() const { return out_begin_.size() - 1; }
  size_t edges() const { return out_.size() + added_.size(); }

  // Calls take(v) for every edge u→v; stops when take returns false.
  template <class Take>
  bool each_out(Vertex u, Take take) const {
    for (uint32_t i = out_begin_[u]; i < out_begin_[u + 1]; ++i) {
      if (!take(out_[i])) return false;
    }
    if (!first_out_.empty()) {
      for (uint32_t e = first_out_[u]; e != kEnd; e = added_[e].next_out) {
        if (!take(added_[e].to)) return false;
      }
    }
    return true;
  }
  template <class Take>
  bool each_in(Vertex v, Take take) const {
    for (uint32_t i = in_begin_[v]; i < in_begin_[v + 1]; ++i) {
      if (!take(in_[i])) return false;
    }
    if (!first_in_.empty()) {
      for (uint32_t e = first_in_[v]; e != kEnd; e = added_[e].next_in) {
        if (!take(added_[e].from)) return false;
      }
    }
    return true;
  }

  // The same with the index of an added edge, or kBuiltIn: take(v, index).
  template <class Take>
  void each_out_edge(Vertex u, Take take) const {
    for (uint32_t i = out_begin_[u]; i < out_begin_[u + 1]; ++i) take(out_[i], kBuiltIn);
    if (first_out_.empty()) return;
    for (uint32_t e = first_out_[u]; e != kEnd; e = added_[e].next_out) take(added_[e].to, e);
  }

  // Finds the edge u→v: kBuiltIn if it was there from the start, otherwise the least index of an
  // added edge (counting from 0), kEnd if there is none. O(edges out of u).
  uint32_t find(Arc arc) const;

  void add(Arc arc);
  // Takes back the edge added last.
  void pop();
  size_t added() const { return added_.size(); }

  // That both directions have the same edges, and none leads from a vertex to itself.
  void check_invariants() const;

 private:
  struct Added {
    Vertex from, to;
    uint32_t next_out, next_in;
  };
  std::vector<uint32_t> out_begin_{0}, in_begin_{0};
  std::vector<Vertex> out_, in_;
  std::vector<uint32_t> first_out_, first_in_;  // empty until the first add
  std::vector<Added> added_;
};

// The vertices in topological order, ties broken by the lower `rank` (any order if empty). If
// the graph has a cycle the result is shorter than vertices(). O(edges + vertices log vertices).
std::vector<Vertex> topological_order(const Digraph& graph, std::span<const uint32_t> rank = {});

// Some shortest cycle through the part of the graph that topological_order could not order; as
// consecutive vertices, the first not repeated. Empty if the graph is acyclic.
std::vector<Vertex> find_cycle(const Digraph& graph);

// A shortest path between two vertices, including both, through vertices that may be passed; there
// must be one.
template <class MayPass>
std::vector<Vertex> shortest_path(const Digraph& graph, Vertex from, Vertex to, MayPass may_pass) {
  std::vector<Vertex> parent(graph.vertices(), to), queue{from};
  std::vector<bool> reached(graph.vertices(), false);
  reached[from] = true;
  for (size_t at = 0; at < queue.size() && !reached[to]; ++at)
    graph.each_out(queue[at], [&](Vertex v) {
      if (reached[v] || !may_pass(v)) return true;
      reached[v] = true;
      parent[v] = queue[at];
      queue.push_back(v);
      return true;
    });
  std::vector<Vertex> path{to};
  while (path.back() != from) path.push_back(parent[path.back()]);
  std::reverse(path.begin(), path.end());
  return path;
}

// The memory that topological_order and find_cycle take.
uint64_t topological_order_bytes(const Digraph& graph);
uint64_t cycle_search_bytes(const Digraph& graph);

}  // namespace assay::internal
