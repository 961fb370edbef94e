// The weak levels: the session guarantees, read committed, read atomic, causal. What transactions
// have seen forces edges of the commit order; the level holds iff session order, reads-from and the
// forced edges together are acyclic. See weak.cc.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/level.h"
#include "graph/digraph.h"
#include "infer/judgement.h"
#include "infer/problem.h"
#include "levels/seen_faults.h"

namespace assay::internal {

// The read dependency or, at a level with session order, the session edge between two nodes that
// have one. Then what the history states about two writers: as an edge, and as the fact that the
// edge assumes.
std::optional<Edge> base_edge(const Problem& problem, const LevelInfo& level, Arc nodes);
Edge stated_edge(const Problem& problem, const StatedOrder& stated);
ProofStep stated_fact(const Problem& problem, const StatedOrder& stated);

// A fault of a commit order: a single forced edge that it runs against; or a cycle that refutes the
// level.
struct WeakFault {
  std::vector<Edge> edges;
  bool is_cycle() const { return edges.size() > 1; }
};

// Decides the weak levels of one history, keeping what they share.
class WeakLevels {
 public:
  // `held`: per node the only level at which its reads count; empty: they count at every level.
  explicit WeakLevels(const Problem& problem, std::span<const LevelId> held = {});

  Judgement decide(LevelId level, Budget& budget);
  // Appends what `order`, a topological order of session order and reads-from, gets wrong; not all
  // faults if that would take much longer than a pass over the history, but at least one if it is
  // not a commit order. False if the budget ran out.
  bool find_faults(LevelId level, const std::vector<Vertex>& order, std::vector<WeakFault>& faults,
                   Budget& budget);

 private:
  bool prepare(Budget& budget);
  void decide(Judgement& found, Budget& budget);
  std::optional<std::vector<Vertex>> ordered(Judgement& found, Budget& budget);
  const Digraph* constrained(Budget& budget);
  Order as_order(const std::vector<Vertex>& nodes) const;

  const Problem& problem_;
  const std::span<const LevelId> held_;
  const LevelInfo* level_ = nullptr;  // the level that is being decided
  std::optional<bool> sessions_;  // whether the next members include session order; nullopt: they
                                  // are not filled yet
  Digraph base_;                  // reads-from and, if the level has it, session order
  std::vector<uint32_t> rank_;    // indexed by node: its place by the hint
  std::vector<VisibilityEdge> edges_;
  std::optional<Digraph> constrained_;
  size_t constrained_edges_ = 0;  // how many of edges_ the constrained graph contains
};

}  // namespace assay::internal
