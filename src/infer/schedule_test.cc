#include "infer/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "history/test_history.h"
#include "infer/order_faults.h"
#include "oracle/random_history.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;
using sample::kCommitted;

struct ScheduleOf {
  History history;
  Problem problem = make_problem(history);
  EventGraph events;
  Budget budget{};

  ScheduleOf(const std::vector<sample::Txn>& txns, LevelId level)
      : ScheduleOf(make_history(txns), level) {}
  ScheduleOf(History h, LevelId level)
      : history(std::move(h)), events(problem, level_info(level)) {}

  Schedule by_hint() { return schedule_by_hint(problem, events.level(), budget); }
  Schedule by_graph(const std::vector<Vertex>& order) {
    return schedule_by_graph(events, order, budget);
  }
};

// Every event once, and no known edge backwards. Helpers may be left out.
bool respects_the_graph(const ScheduleOf& s, const std::vector<Vertex>& order) {
  std::vector<size_t> position(s.events.graph().vertices(), order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (position[order[i]] != order.size()) return false;
    position[order[i]] = i;
  }
  for (Vertex v = 0; v < s.events.events(); ++v) {
    if (position[v] == order.size()) return false;
  }
  for (Vertex u = 0; u < s.events.graph().vertices(); ++u) {
    const bool forwards = s.events.graph().each_out(u, [&](Vertex v) {
      return position[u] == order.size() || position[v] == order.size() ||
             position[u] < position[v];
    });
    if (!forwards) return false;
  }
  return true;
}

// The definition: every read returns the current version, and where the level says so, no
// transaction begins while another writer of its keys is open.
bool plays(const ScheduleOf& s, const std::vector<Vertex>& order) {
  std::vector<WriteId> current(s.history.key_count(), kNone);
  std::vector<int> open(s.history.key_count(), 0);
  const bool exclusive = s.events.level().write_conflict;
  for (Vertex v : order) {
    if (!s.events.is_event(v)) continue;
    const Node n = s.events.node_of(v);
    if (v == s.events.read_event(n)) {
      for (const ExternalRead& read : s.problem.reads[n]) {
        if (current[read.key] != read.write) return false;
      }
      for (const WriteId write : s.problem.writes.of(n)) {
        if (exclusive && open[s.problem.writes.key[write]]++ > 0) return false;
      }
    }
    if (v == s.events.write_event(n)) {
      for (const WriteId write : s.problem.writes.of(n)) {
        current[s.problem.writes.key[write]] = write;
        --open[s.problem.writes.key[write]];
      }
    }
  }
  return true;
}

TEST(ScheduleByHint, AcceptsWhatAnExactClockTells) {
  Rng rng(31);
  RandomShape shape = sample::plain(4, 24, 6, 4);
  shape.timed = 1;
  shape.mutated = 0;
  shape.exact = true;
  for (const LevelInfo& level : default_levels()) {
    if (level.events == EventModel::weak) continue;
    const bool overlap = level.events == EventModel::split;
    shape.isolation = overlap ? RandomShape::Isolation::snapshot : RandomShape::Isolation::serial;
    for (int round = 0; round < 50; ++round) {
      ScheduleOf s(sample::random_history(rng, shape), level.id);
      const Schedule schedule = s.by_hint();
      ASSERT_TRUE(schedule.accepted) << level.name << ", round " << round;
      ASSERT_TRUE(respects_the_graph(s, schedule.order)) << level.name << ", round " << round;
      ASSERT_TRUE(plays(s, schedule.order)) << level.name << ", round " << round;
    }
  }
}

TEST(ScheduleByHint, NeverAcceptsWhatDoesNotPlay) {
  Rng rng(32);
  int accepted = 0;
  for (const LevelId level : {prefix, session_si, session_serializable, serializable}) {
    for (int round = 0; round < 500; ++round) {
      ScheduleOf s(sample::random_history(rng, sample::plain(2, 5, 4, 4)), level);
      if (s.problem.found.bad_read.anomaly != Anomaly::none) continue;
      const Schedule schedule = s.by_hint();
      if (!schedule.accepted) continue;
      ++accepted;
      ASSERT_TRUE(respects_the_graph(s, schedule.order));
      ASSERT_TRUE(plays(s, schedule.order));
    }
  }
  EXPECT_GT(accepted, 50);
}

// The example of the essay: the reader's clock is late.
TEST(ScheduleByHint, AWriteWaitsForALateReader) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}, kCommitted, 1, 10},
                                         {2, {r("x", kNull)}, kCommitted, 11, 12}};
  ScheduleOf s(txns, session_serializable);
  const Schedule schedule = s.by_hint();
  EXPECT_TRUE(schedule.accepted);
  EXPECT_EQ(schedule.order, (std::vector<Vertex>{1, 0}));
  EXPECT_FALSE(ScheduleOf(txns, strict_serializable).by_hint().accepted);
}

TEST(ScheduleByHint, AReaderWaitsForAWriterWhoseClockIsLate) {
  ScheduleOf s({{1, {r("x", 1)}, kCommitted, 1, 2}, {2, {w("x", 1)}, kCommitted, 3, 4}},
               session_si);
  const Schedule schedule = s.by_hint();
  EXPECT_TRUE(schedule.accepted);
  EXPECT_TRUE(plays(s, schedule.order));
}

TEST(ScheduleByHint, RefusesALostUpdateWhereWritersMustNotOverlap) {
  const std::vector<sample::Txn> txns = {{1, {r("x", kNull), w("x", 1)}, kCommitted, 1, 3},
                                         {2, {r("x", kNull), w("x", 2)}, kCommitted, 2, 4}};
  EXPECT_FALSE(ScheduleOf(txns, session_si).by_hint().accepted);
  EXPECT_FALSE(ScheduleOf(txns, serializable).by_hint().accepted);
  EXPECT_TRUE(ScheduleOf(txns, prefix).by_hint().accepted);
}

TEST(ScheduleByHint, SnapshotsAllowAWriteSkewAndOneOrderDoesNot) {
  const std::vector<sample::Txn> txns = {{1, {r("x", kNull), w("y", 1)}, kCommitted, 1, 3},
                                         {2, {r("y", kNull), w("x", 1)}, kCommitted, 2, 4}};
  EXPECT_TRUE(ScheduleOf(txns, strong_si).by_hint().accepted);
  EXPECT_FALSE(ScheduleOf(txns, serializable).by_hint().accepted);
}

TEST(ScheduleByHint, StopsWhenTheBudgetHasRunOut) {
  ScheduleOf s({{1, {w("x", 1)}}}, serializable);
  s.budget = Budget(0, 1);
  ASSERT_TRUE(s.budget.exhausted_now());
  const Schedule schedule = s.by_hint();
  EXPECT_FALSE(schedule.accepted);
  EXPECT_TRUE(schedule.order.empty());
}

std::vector<OrderFault> faults_of(const EventGraph& events, std::span<const Vertex> order) {
  return OrderFaults(events, nullptr).find(order);
}

TEST(ScheduleByGraph, IsACompleteOrderOfTheGraphAndFaultlessIfAccepted) {
  Rng rng(33);
  int accepted = 0;
  int stuck = 0;
  for (const LevelId level : {prefix, session_si, adya_si, session_serializable}) {
    for (int round = 0; round < 300; ++round) {
      ScheduleOf s(sample::random_history(rng, sample::plain(3, 9, 4, 4)), level);
      if (s.problem.found.bad_read.anomaly != Anomaly::none) continue;
      const std::vector<Vertex> order = topological_order(s.events.graph());
      if (order.size() < s.events.graph().vertices()) continue;
      const Schedule schedule = s.by_graph(order);
      ASSERT_EQ(schedule.order.size(), order.size());
      ASSERT_TRUE(respects_the_graph(s, schedule.order));
      ASSERT_EQ(faults_of(s.events, schedule.order).empty(), plays(s, schedule.order));
      ASSERT_EQ(faults_of(s.events, order).empty(), plays(s, order));
      if (schedule.accepted) {
        ASSERT_TRUE(plays(s, schedule.order));
      }
      ++(schedule.accepted ? accepted : stuck);
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(stuck, 100);
}

}  // namespace
}  // namespace assay::internal
