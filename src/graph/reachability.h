// Which of many pairs of vertices are joined by a path. See reachability.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "graph/digraph.h"

namespace assay::internal {

class Reachability {
 public:
  // `order` is a topological order of all vertices of `graph`; neither is copied.
  Reachability(const Digraph& graph, std::span<const Vertex> order);
  static uint64_t bytes(size_t vertices);

  // Per pair: whether a path leads from `from` to `to`; a vertex reaches itself. False if the
  // budget runs out.
  bool answer(std::span<const Arc> pairs, std::vector<bool>& reached, Budget& budget);

 private:
  static constexpr uint32_t kColumns = 512;
  struct Columns {
    uint64_t words[kColumns / 64];
  };

  bool sweep(std::span<const uint32_t> asked, std::span<const Arc> pairs,
             std::vector<bool>& reached, Budget& budget);

  const Digraph& graph_;
  const std::span<const Vertex> order_;
  std::vector<uint32_t> place_;   // indexed by vertex: its place in the order
  std::vector<Columns> columns_;  // indexed by place: which vertices of the block reach it
};

}  // namespace assay::internal
