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

  // Adds the edge if it closes no cycle. Otherwise the graph is unchanged, and path_back() says
  // why.
  bool insert(Arc arc);
  // Adopts another order, a topological order of the graph, after edges were added to the graph by
  // other means.
  void renew(std::span<const Vertex> order);
  // Takes back the edge inserted last. The order stays valid.
  void pop() { graph_.pop(); }

  // After a failed insert(u→v): the vertices of a path v → … → u.
  const std::vector<Vertex>& path_back() const { return path_; }

  uint32_t position(Vertex v) const { return position_[v]; }
  bool before(Vertex a, Vertex b) const { return position_[a] < position_[b]; }
  // The vertices in the current order.
  std::span<const Vertex> order() const { return order_; }

  // That it is an order of all vertices in which every edge leads to a higher position.
  void check_invariants() const;

 private:
  // Skipping this many positions costs about as much as visiting one vertex with its edges, and
  // sorting it.
  static constexpr uint64_t kPositionsPerVertex = 32;

  static constexpr uint32_t kMostStamps = 0xFFFFFFF0;

  // One of the two searches: the vertices it reached, of which those before `next` were visited.
  struct Side {
    std::vector<Vertex> reached;
    size_t next = 0;
    uint32_t stamp = 0;  // the mark of its vertices

    void begin(Vertex v, uint32_t with) {
      reached.assign(1, v);
      next = 0;
      stamp = with;
    }
    size_t waiting() const { return reached.size() - next; }
    bool done() const { return next == reached.size(); }
  };

  bool search(Vertex start, Vertex goal);
  bool visit(Side& side, const Side& other, bool forward);
  void pass_over(const Side& side, bool forward);
  void exchange();
  void place(Vertex v, uint32_t position) {
    position_[v] = position;
    order_[position] = v;
  }

  Digraph& graph_;
  std::vector<Vertex> order_;
  std::vector<uint32_t> position_;
  std::vector<uint32_t> mark_;      // indexed by vertex: the stamp of the side that visited it last
  std::vector<Vertex> parent_;      // indexed by vertex: the vertex of the same side from which it
                                    // was reached
  Side ahead_, behind_;             // what the edge's end reaches, and what reaches its beginning
  uint32_t lower_ = 0, upper_ = 0;  // positions of the edge's ends, between which the searches run
  std::vector<Vertex> path_;
  std::vector<uint32_t> free_;
  uint32_t stamp_ = 0;
};

}  // namespace assay::internal
