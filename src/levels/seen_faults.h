// What a commit order gets wrong at a weak level. The level's row says which transactions one has
// seen (SeenBy, assay/level.h); if a transaction saw t2, and reads x from t1, and t2 writes x too,
// then t2 commits before t1.
//
//   words of s and r                seen_by_words.cc
//   any path of s and r (causal)    causal.cc
#pragma once

#include <memory>
#include <vector>

#include "assay/budget.h"
#include "assay/level.h"
#include "graph/digraph.h"
#include "infer/problem.h"

namespace assay::internal {

// `reader` reads `key` from `to` (kNone: the initial value) although it had seen `from`, which
// writes `key` too: `from` commits before `to`.
struct VisibilityEdge {
  Node from;
  Node to;
  KeyId key;
  Node reader;
  OpId op;       // the operation that reads `key`
  OpId seen_by;  // the read that makes `from` visible directly; kNone: it is visible by session
                 // order, or from further away
};

class SeenFaults {
 public:
  // `base` has one vertex per node: session order and reads-from. Both arguments must outlive the
  // result. Null if the budget has no room for it.
  static std::unique_ptr<SeenFaults> make(const Problem& problem, const Digraph& base,
                                          const SeenBy& seen, Budget& budget);
  virtual ~SeenFaults() = default;

  // To be called first; `order` is a topological order of the base graph. False if the budget runs
  // out.
  virtual bool prepare(const std::vector<Vertex>& order, Budget& budget);
  // An order to begin with, nearer to a commit order than a guess; empty if none is known. To be
  // called after prepare.
  virtual std::vector<Vertex> better_order(const std::vector<Vertex>& order) const;
  // Appends an edge for at least one fault of `order`, which contains the base graph, if there is
  // any. Further edges may be appended that hold, too, even if the order follows them. False if the
  // budget runs out.
  virtual bool find(const std::vector<Vertex>& order, std::vector<VisibilityEdge>& edges,
                    Budget& budget) = 0;
};

// For words that may be repeated: s and r alone.
std::unique_ptr<SeenFaults> seen_by_any_path(const Problem& problem, const Digraph& base,
                                             Budget& budget);

}  // namespace assay::internal
