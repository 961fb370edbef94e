// Which vertices lie on a common cycle.
//
//   a → b → c → a, c → d      {a, b, c} and {d}
//
// A depth-first search numbers the vertices as it finds them. Vertices whose component is not
// complete wait on a stack; `low` is the least number that can be reached through a vertex. A
// vertex that reaches nothing before itself completes the component that waits above it. A
// component is complete before the components that lead to it, so it gets the lower number.
//
// Cost: linear, with an explicit stack instead of recursion. Source: Tarjan, 1972.

#include "graph/components.h"

#include <algorithm>

namespace assay::internal {
namespace {

constexpr uint32_t kUnseen = 0xFFFFFFFF;

class ComponentSearch {
 public:
  explicit ComponentSearch(const Digraph& graph)
      : graph_(graph),
        number_(graph.vertices(), kUnseen),
        low_(graph.vertices(), 0),
        out_begin_(graph.vertices() + 1, 0) {
    out_.reserve(graph.edges());
    for (Vertex u = 0; u < graph.vertices(); ++u) {
      graph.each_out(u, [&](Vertex v) {
        out_.push_back(v);
        return true;
      });
      out_begin_[u + 1] = out_.size();
    }
    found_.of.assign(graph.vertices(), kUnseen);
  }

  Components run() {
    for (Vertex v = 0; v < graph_.vertices(); ++v)
      if (number_[v] == kUnseen) from(v);
    return std::move(found_);
  }

 private:
  struct Visit {
    Vertex vertex;
    size_t next;  // index into out_
  };

  void from(Vertex root) {
    enter(root);
    while (!path_.empty()) {
      Visit& visit = path_.back();
      const Vertex u = visit.vertex;
      if (visit.next == out_begin_[u + 1]) {
        leave(u);
        continue;
      }
      const Vertex v = out_[visit.next++];
      if (number_[v] == kUnseen) {
        enter(v);
      } else if (found_.of[v] == kUnseen) {
        low_[u] = std::min(low_[u], number_[v]);
      }
    }
  }

  void enter(Vertex v) {
    number_[v] = low_[v] = next_number_++;
    waiting_.push_back(v);
    path_.push_back({v, out_begin_[v]});
  }

  void leave(Vertex u) {
    path_.pop_back();
    if (!path_.empty()) {
      uint32_t& low = low_[path_.back().vertex];
      low = std::min(low, low_[u]);
    }
    if (low_[u] != number_[u]) return;
    Vertex v;
    do {
      v = waiting_.back();
      waiting_.pop_back();
      found_.of[v] = found_.count;
    } while (v != u);
    ++found_.count;
  }

  const Digraph& graph_;
  std::vector<uint32_t> number_, low_;
  std::vector<size_t> out_begin_;
  std::vector<Vertex> out_;
  std::vector<Vertex> waiting_;
  std::vector<Visit> path_;
  uint32_t next_number_ = 0;
  Components found_;
};

}  // namespace

Components strong_components(const Digraph& graph) { return ComponentSearch(graph).run(); }

}  // namespace assay::internal
