// A history satisfies a strong level iff its events can be put in a total order in which every read
// returns the current version (and, if the level requires it, writers of a key do not overlap). So
// propose an order and let the events happen in it, each as soon as possible:
//
//   an event waits for the events it depends on (its session, the writers it read from, real time);
//   a write waits for the version that is stated to come right before it;
//   a write waits while the version it overwrites still has readers to come;
//   under write-conflict levels, a begin waits while a key it will write is held by another open
//   writer.
//
//   times: T1 w(x,1) commits at 10, T2 r(x,null) begins at 11 (its snapshot was older)
//   w(T1) comes first but must wait for r(T2); r(T2) happens, w(T1) wakes up: accepted.
//
// Every wait is for one particular event: that event blocks the waiting one, which is examined
// again when it has happened. If all events happen, their order is a proof. If some remain blocked,
// the hint was wrong or the level is violated; saturation and search decide.
//
// One more wait keeps the proposal's order of the writers of a key: a writer that overtakes
// another, because that one has to wait for a reader whose clock is late, often makes a later read
// impossible. This wait is *soft*: when it is part of a cycle of waits, it is dropped.
//
// If the orders of all versions are stated, every wait is one that every order has: a replay that
// ends with blocked events has found a violation, though not its proof.
//
// Client times are a hint, never trusted: a wrong clock costs waiting, not correctness. Of the
// blocked writers of a key, only the first looks for its blocker, and each of the others is blocked
// by the one before it: if thousands write a key that thousands read, waking all of them for each
// reader would be quadratic. Cost: linear, plus the sort by time.

#include "infer/schedule.h"

#include <algorithm>
#include <optional>

#include "infer/hint.h"
#include "infer/precedence.h"
#include "infer/replay_in_place.h"
#include "infer/scheduler.h"
#include "infer/slices.h"
#include "infer/stated_orders.h"

namespace assay::internal {
namespace {

// The memory of a replay, apart from the proposal: the scheduler, and for each event a number and a
// place in a queue of `Precedence`.
uint64_t replay_bytes(const Problem& problem, size_t vertices) {
  constexpr uint64_t kBytesAVertex = 34, kBytesAWrite = 12, kBytesAKey = 20;
  return kBytesAVertex * vertices + kBytesAWrite * problem.writes.size() +
         kBytesAKey * problem.keys();
}

}  // namespace

Schedule schedule_by_hint(const Problem& problem, const LevelInfo& level, Budget& budget,
                          const ReplayByHint& how) {
  const size_t events = (level.events == EventModel::split ? 2 : 1) * problem.nodes();
  constexpr uint64_t kBytesAnEvent = sizeof(std::pair<int64_t, Vertex>);  // while events are sorted
                                                                          // by time
  const uint64_t gates = level.real_time == RealTime::none ? 0 : kBytesAnEvent * events;
  const bool stated = how.stated_orders && !problem.stated.empty();
  if (stated && !budget.has_room(sizeof(Node) * problem.writes.size())) return {};
  if (!budget.has_room(std::max(kBytesAnEvent * events, gates + replay_bytes(problem, events)) +
                       sizeof(Vertex) * events))
    return {};
  const unsigned threads = threads_for(problem.nodes(), how.threads);
  std::vector<Vertex> proposal = events_by_hint(problem.hint, Events(level));
  const std::vector<Node> before = stated ? stated_before(problem, threads) : std::vector<Node>();
  // Of several versions that are stated to come before a version, only one is waited for.
  const auto kept =
      static_cast<size_t>(std::ranges::count_if(before, [](Node n) { return n != kNone; }));
  const bool keeps_stated = kept == problem.stated.size();
  std::optional<std::vector<uint32_t>> waiting;
  if (problem.open == nullptr)
    waiting = waiting_in_place(problem, level, proposal, threads, budget, before);
  if (waiting && waiting->empty()) {
    budget.spend(proposal.size());  // the effort as if each event were attempted
    if (budget.exhausted_now()) return {};
    return {std::move(proposal), true, keeps_stated};
  }
  HistoryPrecedence precedence(problem, level);
  const Events places(level);
  Scheduler scheduler(problem, places, proposal.size(), proposal, precedence, !places.split,
                      before);
  if (waiting) scheduler.keep_order();
  size_t next = 0;  // the first event that waits
  for (uint32_t i = 0; i < proposal.size(); ++i) {
    if (budget.exhausted()) return {};
    const bool waits = waiting && next < waiting->size() && (*waiting)[next] == i;
    if (waits) ++next;
    waiting && !waits ? scheduler.attempt_free(proposal[i]) : scheduler.attempt(proposal[i]);
  }
  for (Vertex v : proposal) scheduler.overtake(v);
  const bool accepted = scheduler.done() == proposal.size();
  return {scheduler.take_order(), accepted, keeps_stated, scheduler.effective()};
}

Schedule schedule_by_graph(const EventGraph& graph, std::span<const Vertex> order, Budget& budget) {
  if (!budget.has_room(sizeof(uint32_t) * order.size() +
                       replay_bytes(graph.problem(), order.size())))
    return {};
  std::vector<uint32_t> rank(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  GraphPrecedence precedence(graph, rank);
  Scheduler scheduler(graph.problem(), graph, order.size(), order, precedence);
  bool forced = false;
  for (;;) {
    if (budget.exhausted()) return {};
    Vertex v = precedence.next_free();
    if (v != kNothing) {
      scheduler.attempt(v);
    } else {
      v = precedence.next_blocked();
      if (v == kNothing) break;
      scheduler.overtake(v);
      if (scheduler.happened()[v]) continue;
      if (scheduler.must_wait(v)) forced = true;
      scheduler.force(v);
    }
  }
  const bool accepted = !forced && scheduler.done() == graph.graph().vertices();
  return {scheduler.take_order(), accepted};
}

}  // namespace assay::internal
