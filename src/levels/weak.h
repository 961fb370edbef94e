// The weak levels: read committed, read atomic, causal. Each is a rule that forces edges of the
// commit order; the level holds iff session order, reads-from and the forced edges together are
// acyclic. See weak.cc.
#pragma once

#include <string>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "graph/digraph.h"
#include "infer/reads_from.h"

namespace assay {

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

struct WeakInput {
  const History& history;
  const ReadsFrom& rf;
  const Digraph& base;  // one vertex a node: session order and reads-from
};

// The rules, one file each. They fail only when the budget runs out (false).
bool force_read_committed(const WeakInput& in, std::vector<VisibilityEdge>& edges, Budget& budget);
bool force_read_atomic(const WeakInput& in, std::vector<VisibilityEdge>& edges, Budget& budget);
// `order` is a topological order of the base graph.
bool force_causal(const WeakInput& in, const std::vector<Vertex>& order,
                  std::vector<VisibilityEdge>& edges, Budget& budget);

struct WeakVerdict {
  Outcome outcome = Outcome::unknown;
  std::string reason;  // of an unknown
  Order order;         // satisfied
  Proof proof;         // violated
};

WeakVerdict decide_weak(const History& history, const ReadsFrom& rf, LevelId level, Budget& budget);

}  // namespace assay
