// Accepting by replay: puts all events into an order in which every read returns the current
// version. See schedule.cc.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "assay/budget.h"
#include "infer/event_graph.h"
#include "infer/problem.h"

namespace assay::internal {

struct Schedule {
  // In the order in which they took effect: events and, for schedule_by_graph, helper vertices
  // among them.
  std::vector<Vertex> order;
  bool accepted = false;
  bool keeps_stated = false;  // schedule_by_hint: every version waited for all that are stated to
                              // precede it
  std::vector<Node> effective = {};  // schedule_by_hint: possible nodes that take effect, ascending
};

// Options of a replay. Reads with several possible sources (Problem::open) wait for one of them;
// `accepted` does not mean that they met one.

struct ReplayByHint {
  unsigned threads = 1;       // 0: one per core; the schedule is the same for every number
  bool stated_orders = true;  // a version waits for the versions that are stated to precede it
};

// Proposes the order of the hint and replays it. Needs no graph. If the order is not accepted,
// nothing is known about the level.
Schedule schedule_by_hint(const Problem& problem, const LevelInfo& level, Budget& budget,
                          const ReplayByHint& how = {});

// Replays the known graph in the order of `rank` (a position per vertex), respecting every known
// edge. If every event is blocked, the first one is forced, and the replay goes on: the result is
// always a complete topological order, perhaps with faults (order_faults.h). Empty if the budget
// ran out.
Schedule schedule_by_graph(const EventGraph& graph, std::span<const Vertex> order, Budget& budget);

}  // namespace assay::internal
