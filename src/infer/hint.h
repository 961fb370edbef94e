// A guess at when things happened, from which the search starts. Never trusted: it only decides the
// order of trying.
#pragma once

#include "base/sort_by.h"
#include "graph/digraph.h"
#include "infer/problem.h"

namespace assay::internal {

// Uses all other parts of the problem.
Hint make_hint(const Problem& problem);
// A hint whose times are the places of the events in an order.
Hint hint_of_order(const Problem& problem, const Order& order);

// The nodes by the times of their writes; nodes with the same time in the order of their numbers.
std::vector<Node> by_write_time(const Hint& hint);
// The events of the nodes, sorted by the hint's times. `Places`: Events or EventGraph.
template <class Places>
std::vector<Vertex> events_by_hint(const Hint& hint, const Places& places) {
  std::vector<Numbered> timed;
  timed.reserve(2 * hint.write_time.size());
  for (Node n = 0; n < hint.write_time.size(); ++n) {
    if (places.read_event(n) != places.write_event(n))
      timed.push_back({hint.read_time[n], places.read_event(n)});
    timed.push_back({hint.write_time[n], places.write_event(n)});
  }
  sort_numbered(timed);
  std::vector<Vertex> events;
  events.reserve(timed.size());
  for (const auto& [time, v] : timed) events.push_back(v);
  return events;
}

}  // namespace assay::internal
