// The weak levels: the session guarantees, read committed, read atomic, causal. Each is a rule that
// forces edges of the commit order; the level holds iff session order, reads-from and the forced
// edges together are acyclic. See weak.cc.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "graph/digraph.h"
#include "infer/problem.h"
#include "levels/level_verdict.h"

namespace assay::internal {

// `reader` reads `key` from `to` (kNone: the initial value) although it had seen, in the sense of
// the level, `from`, which writes `key` too: `from` commits before `to`.
struct VisibilityEdge {
  Node from;
  Node to;
  KeyId key;
  Node reader;
  OpId op;       // the read of `key`
  OpId seen_by;  // the read that makes `from` visible, directly; kNone: by session order, or
                 // further away
};

// The rules, one file each. They fail only when the budget runs out (false).
bool force_read_committed(const Problem& problem, std::vector<VisibilityEdge>& edges,
                          Budget& budget);
bool force_read_atomic(const Problem& problem, std::vector<VisibilityEdge>& edges, Budget& budget);

// Causal consistency goes by a commit order in place of rules: the faults of an order, as edges that
// the next one must follow. See causal.cc.
class CausalFaults {
 public:
  // `base` has one vertex a node: session order and reads-from.
  CausalFaults(const Problem& problem, const Digraph& base);
  // What an object holds besides the clocks.
  static uint64_t bytes(const Problem& problem);
  ~CausalFaults();
  // Comes first; `order` is a topological order of the base graph. False if the budget runs out.
  bool prepare(const std::vector<Vertex>& order, Budget& budget);
  // The order in which transactions saw more and more of the others, a topological order too: `order` sorted anew.
  // Nearer to a commit order than a guess. After prepare.
  std::vector<Vertex> by_past(std::vector<Vertex> order) const;
  // Appends, for each read that has one, the last writer of its key that the reader saw and that
  // `order` puts behind the one it read from. `order` contains the base graph. False if the budget
  // runs out.
  bool find(const std::vector<Vertex>& order, std::vector<VisibilityEdge>& edges, Budget& budget);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The session guarantees go by a commit order too. See session_guarantees.cc.
bool is_session_guarantee(LevelId level);
class SessionFaults {
 public:
  SessionFaults(const Problem& problem, LevelId level);
  static uint64_t bytes(const Problem& problem);
  ~SessionFaults();
  // As in CausalFaults.
  bool find(const std::vector<Vertex>& order, std::vector<VisibilityEdge>& edges, Budget& budget);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};
// How `reader` saw `seen` in the sense of a session guarantee: session and reads-from edges.
std::vector<Edge> session_guarantee_path(const Problem& problem, LevelId level, Node seen,
                                         Node reader);

// The read dependency or the session edge between two nodes that have one. And what the history states of two writers: as
// an edge, and as the fact that the edge assumes.
std::optional<Edge> base_edge(const Problem& problem, Arc nodes);
Edge stated_edge(const Problem& problem, const StatedOrder& stated);
ProofStep stated_fact(const Problem& problem, const StatedOrder& stated);

// What a commit order gets wrong: a forced edge that it runs against, alone; or a cycle that refutes the level.
struct WeakFault {
  std::vector<Edge> edges;
  bool is_cycle() const { return edges.size() > 1; }
};

// Decides the weak levels of one history, keeping what they share.
class WeakLevels {
 public:
  // `held`: per node the one level at which its reads count; empty: they do at every level.
  explicit WeakLevels(const Problem& problem, std::span<const LevelId> held = {});

  LevelVerdict decide(LevelId level, Budget& budget);
  // Appends what `order`, a topological order of session order and reads-from, gets wrong; not all of it if that would take
  // much longer than a look at the history, but something if it is not a commit order. False if the budget ran out.
  bool find_faults(LevelId level, const std::vector<Vertex>& order, std::vector<WeakFault>& faults,
                   Budget& budget);

 private:
  bool prepare(Budget& budget);
  bool force_edges(LevelId level, const std::vector<Vertex>& order, Budget& budget);
  void decide_by_rule(LevelId level, LevelVerdict& verdict, Budget& budget);
  void decide_causal(LevelVerdict& verdict, Budget& budget);
  void decide_session_guarantee(LevelVerdict& verdict, Budget& budget);
  template <class Faults>
  void decide_by_faults(Faults& faults, std::vector<Vertex> order, LevelVerdict& verdict,
                        Budget& budget);
  std::optional<std::vector<Vertex>> ordered(LevelVerdict& verdict, Budget& budget);
  const Digraph* constrained(Budget& budget);
  void satisfied(const std::vector<Vertex>& order, LevelVerdict& verdict) const;

  const Problem& problem_;
  const std::span<const LevelId> held_;
  bool prepared_ = false;       // what follows is there
  Digraph base_;                // session order and reads-from
  std::vector<uint32_t> rank_;  // per node, by the hint
  std::vector<VisibilityEdge> edges_;
  std::optional<Digraph> constrained_;
  size_t constrained_edges_ = 0;             // how many of edges_ are in it
  LevelId level_ = LevelId::read_committed;  // being decided
};

}  // namespace assay::internal
