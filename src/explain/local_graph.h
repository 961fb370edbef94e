// The dependencies among the few transactions a refutation talks about, and the shortest cycle in
// them that refutes a level.
#pragma once

#include <string>
#include <vector>

#include "assay/certificate.h"
#include "assay/level.h"
#include "explain/accesses.h"
#include "explain/conclusion.h"

namespace assay::internal {

// One arrow of a cycle with what justifies the order of writers it relies on, if it relies on one.
struct Step {
  Edge edge;
  enum class Because : uint8_t {
    plain,       // nothing to justify
    read_first,  // the later writer read the earlier one's version
    path,        // `path` leads from the earlier writer to the later one
    proof,       // the refutation forces it: step `proof_step`
    stated,      // the history states the order
    assumed,     // what was read may be another's; with that the level is violated too
  };
  Because because = Because::plain;
  std::vector<Edge> path;
  uint32_t proof_step = kNone;
};

using Cycle = std::vector<Step>;

// A few hundred transactions at most; beyond that only the first are looked at.
inline constexpr size_t kMaxLocal = 160;

struct FoundCycle {
  Cycle cycle;        // empty if there is none
  uint32_t cost = 0;  // the lower, the easier to explain
};

// The cheapest cycle among `txns` (each edge costs, edges with long justifications more). For weak
// levels its edges are read dependencies, session and forced ones, or an anti-dependency from a read of the
// initial value.
FoundCycle shortest_cycle(const Accesses& accesses, const LevelInfo& level, std::vector<TxnId> txns,
                          const Conclusion& conclusion, const Proof& proof);

// The shortest way from one transaction to another over session and read-from edges in the whole
// history; empty if none is found within a bounded search.
std::vector<Edge> causal_path(const Accesses& accesses, TxnId from, TxnId to, bool sessions);

}  // namespace assay::internal
