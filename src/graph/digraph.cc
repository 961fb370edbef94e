// Topological order by Kahn's algorithm, and cycles among the vertices it cannot order.
//
//   a → b → c → a, c → d      Kahn orders nothing: a, b and c wait for each other, and d for c
//
// A cycle stays in one strongly connected component; a breadth-first search in it from a vertex
// back to itself gives a short one. Searching from a few starts, smallest components first, and
// keeping the shortest cycle gives small counterexamples at bounded cost. O(edges of the component)
// per start.

#include "graph/digraph.h"

#include <algorithm>
#include <queue>

#include "base/invariants.h"
#include "graph/components.h"

namespace assay::internal {
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

class CycleSearch {
 public:
  explicit CycleSearch(const Digraph& graph)
      : graph_(graph),
        components_(strong_components(graph)),
        seen_from_(graph.vertices(), kNowhere),
        parent_(graph.vertices()) {}

  // Vertices on cycles; those in the smallest components come first.
  std::vector<Vertex> starts() const {
    std::vector<uint32_t> size(components_.count, 0);
    for (uint32_t c : components_.of) ++size[c];
    std::vector<Vertex> starts;
    for (Vertex v = 0; v < graph_.vertices(); ++v) {
      if (size[components_.of[v]] > 1) starts.push_back(v);
    }
    const size_t few = std::min(starts.size(), kCycleStarts);
    std::partial_sort(starts.begin(), starts.begin() + static_cast<std::ptrdiff_t>(few),
                      starts.end(), [&](Vertex a, Vertex b) {
                        const uint32_t sa = size[components_.of[a]];
                        const uint32_t sb = size[components_.of[b]];
                        return sa != sb ? sa < sb : a < b;
                      });
    starts.resize(few);
    return starts;
  }

  // Shortest path start → … → start of at most `limit` vertices; empty if there is none.
  std::vector<Vertex> through(Vertex start, size_t limit) {
    std::vector<Vertex> frontier{start};
    std::vector<Vertex> next;
    Vertex last = kNowhere;
    for (size_t length = 1; length <= limit && last == kNowhere && !frontier.empty(); ++length) {
      next.clear();
      for (Vertex u : frontier) {
        if (last == kNowhere) last = step(start, u, next);
      }
      frontier.swap(next);
    }
    std::vector<Vertex> cycle;
    if (last == kNowhere) return cycle;
    for (Vertex v = last; v != start; v = parent_[v]) cycle.push_back(v);
    cycle.push_back(start);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
  }

 private:
  static constexpr Vertex kNowhere = 0xFFFFFFFF;

  // Appends to `next` the vertices that an edge from `u` reaches for the first time; returns `u` if
  // one of them is `start` itself.
  Vertex step(Vertex start, Vertex u, std::vector<Vertex>& next) {
    const bool open = graph_.each_out(u, [&](Vertex v) {
      if (v == start) return false;
      if (components_.of[v] == components_.of[start] && seen_from_[v] != start) {
        seen_from_[v] = start;
        parent_[v] = u;
        next.push_back(v);
      }
      return true;
    });
    return open ? kNowhere : u;
  }

  const Digraph& graph_;
  const Components components_;
  std::vector<Vertex> seen_from_;  // indexed by vertex: the last start of a search that reached it
  std::vector<Vertex> parent_;
};

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
  if constexpr (kInvariantsChecked) check_invariants();
}

void Digraph::check_invariants() const {
  if (vertices() + edges() > kMostChecked) return;
  std::vector<std::pair<Vertex, Vertex>> out, in;
  for (Vertex v = 0; v < vertices(); ++v) {
    each_out(v, [&](Vertex to) { return out.emplace_back(v, to), true; });
    each_in(v, [&](Vertex from) { return in.emplace_back(from, v), true; });
    check_invariant(out.size() <= edges() && in.size() <= edges(), "lists of edges end");
  }
  std::ranges::sort(out);
  std::ranges::sort(in);
  check_invariant(out.size() == edges(), "each edge of a graph is in one list");
  check_invariant(out == in, "both directions of a graph have the same edges");
  check_invariant(std::ranges::none_of(out, [](const auto& e) { return e.first == e.second; }),
                  "no edge leads from a vertex to itself");
  for (uint32_t e = 0; e < added_.size(); ++e)
    check_invariant((added_[e].next_out < e || added_[e].next_out == kEnd) &&
                        (added_[e].next_in < e || added_[e].next_in == kEnd),
                    "lists of added edges run from the newest to the oldest");
}

uint64_t Digraph::bytes(size_t vertices, size_t arcs) {
  return 4 * sizeof(uint32_t) * vertices + 2 * sizeof(Vertex) * arcs;
}

uint64_t Digraph::bytes_to_add(size_t arcs) const {
  const uint64_t lists = first_out_.empty() ? 2 * sizeof(uint32_t) * vertices() : 0;
  const size_t wanted = added_.size() + arcs;
  return lists + (wanted > added_.capacity() ? sizeof(Added) * wanted : 0);
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
  if constexpr (kInvariantsChecked) check_invariants();
}

void Digraph::pop() {
  const Added& last = added_.back();
  first_out_[last.from] = last.next_out;
  first_in_[last.to] = last.next_in;
  added_.pop_back();
  if constexpr (kInvariantsChecked) check_invariants();
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
  CycleSearch search(graph);
  std::vector<Vertex> best;
  for (Vertex v : search.starts()) {
    const size_t limit = best.empty() ? graph.vertices() : best.size() - 1;
    std::vector<Vertex> cycle = search.through(v, limit);
    if (!cycle.empty()) best = std::move(cycle);
    if (best.size() == 2) break;
  }
  return best;
}

uint64_t topological_order_bytes(const Digraph& graph) {
  return 3 * sizeof(uint32_t) * graph.vertices();  // degrees, the ready vertices, and the order
}

uint64_t cycle_search_bytes(const Digraph& graph) {
  // The search for components copies the edges; per vertex it holds six numbers, two of them of 64
  // bits.
  return 9 * sizeof(uint32_t) * graph.vertices() + sizeof(Vertex) * graph.edges();
}

}  // namespace assay::internal
