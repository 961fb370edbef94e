// Saturation: derives every version order that known edges force, to a fixpoint. See saturation.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/budget.h"
#include "graph/incremental_order.h"
#include "infer/closure.h"
#include "infer/event_graph.h"
#include "infer/known_edges.h"
#include "infer/session_clocks.h"

namespace assay::internal {

// Which rules apply; they are described in saturation.cc. If one is left out, less is derived and
// more is left to the search.
struct SaturationRules {
  bool anti_dependencies = true;
  bool write_dependencies = true;
  bool begins = true;
  bool combined_writes = true;
  // The most vertices in the window of the closure, which is used if there are no clocks; 0:
  // nothing is derived without clocks.
  uint32_t window = UINT32_MAX;
};

class Saturation {
 public:
  enum class Result : uint8_t { fixpoint, cycle, out_of_budget };

  // Adds derived edges to the graph of `events` through `order`, which is kept topological.
  Saturation(EventGraph& events, IncrementalOrder& order, KnownEdges& known,
             SaturationRules rules = {});

  // Whether there is an index: clocks or a window. If not, run() must not be called.
  bool affordable() const { return clocks_.affordable() || rules_.window > 0; }
  Result run(Budget& budget);

  // After Result::cycle: the edge that closed it. It is known().edges.back(), not in the graph;
  // order.path_back() leads back from its head to its tail.
  const DerivedEdge& closing_edge() const { return known_.edges.back(); }

  // Tells which events reach which, after run(); null if there are no clocks.
  const SessionClocks* clocks() const { return clocks_.affordable() ? &clocks_ : nullptr; }
  uint32_t rounds() const { return rounds_; }

 private:
  EventGraph& events_;
  IncrementalOrder& order_;
  KnownEdges& known_;
  const SaturationRules rules_;
  SessionClocks clocks_;
  uint32_t rounds_ = 0;
};

}  // namespace assay::internal
