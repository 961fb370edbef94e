// A cycle as it is explained: its edges, each with the reason for an order of two writers that it
// relies on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"
#include "explain/refutation.h"

namespace assay::internal {

struct Step {
  Edge edge;
  enum class Because : uint8_t {
    plain,       // nothing to justify
    read_first,  // the later writer read the earlier one's version
    path,        // `path` leads from the earlier writer to the later one
    proof,       // the refutation forces it: step `source`
    stated,      // the history states the order
    assumed,     // the read may have another source; with that source the level is violated, too
  };
  Because because = Because::plain;
  std::vector<Edge> path = {};
  // proof: the step. stated: the read of the list that states the order; kNone: the history states
  // it as an order of versions.
  uint32_t source = kNone;
};

using Cycle = std::vector<Step>;

// The cycle of a conclusion, with nothing added.
Cycle own_cycle(const History& history, const Proof& proof, const Conclusion& conclusion);

struct FoundCycle {
  Cycle cycle;                 // empty if there is none
  uint32_t cost = UINT32_MAX;  // the lower, the easier to explain
};

// The cheapest cycle among all transactions of a history, which are few, with the orders that the
// conclusion forces; empty if there are too many. For levels with an event graph.
FoundCycle cheapest_cycle(const History& history, const LevelInfo& level,
                          const Conclusion& conclusion);

// A cycle of two transactions that read one version of a key and overwrote it, if possible two of
// `named`; empty if the history has none.
Cycle lost_update(const History& history, std::span<const TxnId> named);
// The cycle of two transactions that read the version that `source` left and overwrote it.
Cycle both_overwrite(const History& history, VersionId version, TxnId source, TxnId first,
                     TxnId second);

// Turns a cycle of a weak level (read_from, session, forced) into the form of the strong ones: the
// version that a reader could see, and the anti-dependency to the one that it missed. Other cycles
// are unchanged.
Cycle without_forced(Cycle cycle);

// Whether each order of writers that the cycle assumes has a reason that can be explained.
bool is_proven(const Cycle& cycle, const Proof& proof);

// Whether a step of a proof says that a read has several possible sources.
bool several_sources(const ProofStep& step);

}  // namespace assay::internal
