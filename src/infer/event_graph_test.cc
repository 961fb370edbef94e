#include "infer/event_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;
using sample::kCommitted;
using sample::kUnknown;

// A history with its graph at one level.
struct GraphOf {
  History history;
  Problem problem = make_problem(history);
  EventGraph events;

  GraphOf(const std::vector<sample::Txn>& txns, LevelId level)
      : history(make_history(txns)), events(problem, level_info(level)) {}

  Vertex reads(Node n) const { return events.read_event(n); }
  Vertex writes(Node n) const { return events.write_event(n); }

  // A shortest path; empty if there is none. From a vertex to itself: a cycle.
  std::vector<Vertex> path(Vertex from, Vertex to) const {
    std::vector<Vertex> parent(events.graph().vertices(), kNone);
    std::vector<Vertex> queue = {from};
    for (size_t i = 0; i < queue.size() && parent[to] == kNone; ++i) {
      events.graph().each_out(queue[i], [&](Vertex v) {
        if (parent[v] == kNone) {
          parent[v] = queue[i];
          queue.push_back(v);
        }
        return true;
      });
    }
    if (parent[to] == kNone) return {};
    std::vector<Vertex> found = {to};
    do found.push_back(parent[found.back()]);
    while (found.back() != from);
    std::reverse(found.begin(), found.end());
    return found;
  }
  bool reach(Vertex from, Vertex to) const { return !path(from, to).empty(); }

  Edge reason(Vertex from, Vertex to) const {
    const std::vector<Vertex> found = path(from, to);
    return events.reason(from, std::span(found).subspan(1, found.size() - 2), to);
  }
};

TEST(EventGraph, SingleLevelsHaveOneEventATransactionAndSplitOnesTwo) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}}, {2, {r("x", 1)}}};
  const GraphOf single(txns, serializable);
  EXPECT_EQ(single.events.events(), 2u);
  EXPECT_EQ(single.reads(1), single.writes(1));
  EXPECT_TRUE(single.reach(0, 1));
  EXPECT_EQ(single.events.graph().edges(), 1u);
  const GraphOf split(txns, adya_si);
  EXPECT_EQ(split.events.events(), 4u);
  EXPECT_EQ(split.events.graph().edges(), 3u);  // r → w of each, and the read
  EXPECT_NE(split.events.graph().find({split.reads(0), split.writes(0)}), Digraph::kEnd);
  EXPECT_NE(split.events.graph().find({split.writes(0), split.reads(1)}), Digraph::kEnd);
}

TEST(EventGraph, AWriteDependencyArrivesAtTheBeginWhereWritersMustNotOverlap) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}}};
  const GraphOf si(txns, session_si);
  EXPECT_EQ(si.events.overwrite_event(0), si.reads(0));
  const GraphOf pc(txns, prefix);
  EXPECT_EQ(pc.events.overwrite_event(0), pc.writes(0));
  const GraphOf ser(txns, serializable);
  EXPECT_EQ(ser.events.overwrite_event(0), ser.writes(0));
}

TEST(EventGraph, SessionOrderWhereTheLevelHasIt) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}}, {1, {w("x", 2)}}, {1, {w("x", 3)}}};
  const GraphOf with(txns, session_si);
  EXPECT_TRUE(with.reach(with.writes(0), with.reads(2)));
  const GraphOf without(txns, adya_si);
  EXPECT_FALSE(without.reach(without.writes(0), without.reads(1)));
  EXPECT_TRUE(GraphOf(txns, session_serializable).reach(0, 2));
  EXPECT_FALSE(GraphOf(txns, serializable).reach(0, 1));
}

TEST(EventGraph, AnUnknownTransactionFollowsItsSessionAndLeadsNowhere) {
  const GraphOf s(
      {{1, {w("x", 1)}}, {1, {w("y", 1)}, kUnknown}, {1, {w("x", 2)}}, {2, {r("y", 1)}}},
      session_serializable);
  EXPECT_TRUE(s.reach(0, 1));
  EXPECT_TRUE(s.reach(0, 2));
  EXPECT_FALSE(s.reach(1, 2));
  EXPECT_TRUE(s.reach(1, 3));
}

TEST(EventGraph, ReadersOfTheInitialValuePrecedeItsWriters) {
  const GraphOf few({{1, {r("x", kNull)}}, {2, {w("x", 1)}}}, adya_si);
  EXPECT_EQ(few.events.graph().vertices(), few.events.events());
  EXPECT_TRUE(few.reach(few.reads(0), few.writes(1)));
  EXPECT_FALSE(few.reach(few.reads(0), few.reads(1)));

  std::vector<sample::Txn> txns;
  for (int i = 0; i < 5; ++i) txns.push_back({i, {r("x", kNull)}});
  for (int i = 5; i < 10; ++i) txns.push_back({i, {w("x", i)}});
  const GraphOf many(txns, adya_si);
  EXPECT_EQ(many.events.graph().vertices(), many.events.events() + 1);  // one helper
  EXPECT_EQ(many.events.graph().edges(), 10u + 5 + 5);
  for (Node reader = 0; reader < 5; ++reader) {
    for (Node writer = 5; writer < 10; ++writer) {
      ASSERT_TRUE(many.reach(many.reads(reader), many.writes(writer)));
      ASSERT_FALSE(many.reach(many.reads(writer), many.reads(reader)));
    }
  }
  const Edge edge = many.reason(many.reads(2), many.writes(7));
  EXPECT_EQ(edge.kind, EdgeKind::anti_dependency);
  EXPECT_EQ(edge.from, 2u);
  EXPECT_EQ(edge.to, 7u);
  EXPECT_EQ(edge.key, many.history.op(0).key);
  EXPECT_EQ(edge.via, kNone);
}

TEST(EventGraph, AnUpdaterOfTheInitialValueDoesNotWaitForItself) {
  std::vector<sample::Txn> txns = {{0, {r("x", kNull), w("x", 100)}}};
  for (int i = 1; i < 5; ++i) txns.push_back({i, {r("x", kNull)}});
  for (int i = 5; i < 8; ++i) txns.push_back({i, {w("x", i)}});
  const GraphOf one(txns, serializable);
  EXPECT_TRUE(find_cycle(one.events.graph()).empty());
  EXPECT_TRUE(one.reach(0, 6));
  EXPECT_TRUE(one.reach(3, 0));
  txns.push_back({9, {r("x", kNull), w("x", 101)}});
  const GraphOf two(txns, serializable);  // both read what the other overwrote
  EXPECT_EQ(find_cycle(two.events.graph()).size(), 2u);
}

TEST(EventGraph, ReasonsSayWhatAnEdgeIs) {
  const GraphOf s({{1, {w("x", 1)}}, {1, {r("y", kNull)}}, {2, {r("x", 1), w("y", 1)}}},
                  session_serializable);
  const Edge session = s.reason(0, 1);
  EXPECT_EQ(session.kind, EdgeKind::session);
  EXPECT_EQ(session.from, 0u);
  EXPECT_EQ(session.to, 1u);
  const Edge read = s.reason(0, 2);
  EXPECT_EQ(read.kind, EdgeKind::read_dependency);
  EXPECT_EQ(read.key, s.history.op(0).key);
  EXPECT_EQ(read.op, 2u);
  const Edge anti = s.reason(1, 2);
  EXPECT_EQ(anti.kind, EdgeKind::anti_dependency);
  EXPECT_EQ(anti.key, s.history.op(1).key);
}

TEST(EventGraph, ReasonsOfRealTimeSayWhichSides) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}, kCommitted, 10, 20},
                                         {2, {w("y", 1)}, kCommitted, 30, 40}};
  const GraphOf strict(txns, strict_serializable);
  const Edge whole = strict.reason(0, 1);
  EXPECT_EQ(whole.kind, EdgeKind::real_time);
  EXPECT_TRUE(whole.from_write);
  EXPECT_FALSE(whole.to_write);
  const GraphOf gsi({{1, {w("x", 1)}, kCommitted, 10, 50}, {2, {w("y", 1)}, kCommitted, 20, 40}},
                    generalized_si);
  const Edge begins = gsi.reason(gsi.reads(0), gsi.writes(1));
  EXPECT_EQ(begins.kind, EdgeKind::real_time);
  EXPECT_FALSE(begins.from_write);
  EXPECT_TRUE(begins.to_write);
}

TEST(EventGraph, EqualTimesAreNotBefore) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}, kCommitted, 10, 20},
                                         {2, {w("y", 1)}, kCommitted, 20, 40},
                                         {3, {w("z", 1)}, kCommitted, 21, 40}};
  const GraphOf s(txns, strict_serializable);
  EXPECT_FALSE(s.reach(0, 1));
  EXPECT_TRUE(s.reach(0, 2));
  EXPECT_FALSE(s.reach(1, 2));
}

// What real time asks, pair by pair from the definition.
std::vector<Arc> real_time_pairs(const GraphOf& s) {
  const RealTime rule = s.events.level().real_time;
  std::vector<Arc> arcs;
  for (Vertex a = 0; a < s.events.events(); ++a) {
    for (Vertex b = 0; b < s.events.events(); ++b) {
      const Node na = s.events.node_of(a);
      const Node nb = s.events.node_of(b);
      if (na == nb) continue;
      const bool single = rule == RealTime::transactions;
      const bool from_end = single || s.events.is_write_event(a);
      const bool to_end = !single && s.events.is_write_event(b);
      if (from_end && !s.events.committed(na)) continue;
      if (!to_end && rule == RealTime::into_commits) continue;
      if (!to_end && !from_end) continue;
      const Interval begin = s.history.begin_time(s.problem.txn[nb]);
      const Interval end = s.events.committed(nb) ? s.history.end_time(s.problem.txn[nb]) : begin;
      const Interval over = from_end ? s.history.end_time(s.problem.txn[na])
                                     : s.history.begin_time(s.problem.txn[na]);
      if (over.response < (to_end ? end : begin).request) arcs.push_back({a, b});
    }
  }
  return arcs;
}

TEST(EventGraph, TheChainsOfRealTimeSayExactlyWhatAllPairsSay) {
  Rng rng(5);
  for (const LevelId level : {strict_serializable, generalized_si, strong_si}) {
    for (int round = 0; round < 50; ++round) {
      std::vector<sample::Txn> txns;
      for (int i = 0; i < 7; ++i) {
        const int64_t begin = rng.between(0, 12);
        txns.push_back({i, {w("x", i)}, kCommitted, begin, begin + rng.between(0, 4)});
      }
      txns.push_back({7, {w("y", 1)}, kUnknown, rng.between(0, 12)});
      txns.push_back({8, {r("y", 1)}, kCommitted, 0, 13});  // keeps it
      const GraphOf s(txns, level);
      std::vector<Arc> arcs = real_time_pairs(s);
      for (Node n = 0; n < s.problem.nodes() && s.events.split(); ++n) {
        arcs.push_back({s.reads(n), s.writes(n)});
      }
      arcs.push_back({s.writes(7), s.reads(8)});
      const size_t n = s.events.events();
      std::vector<std::vector<bool>> reach(n, std::vector<bool>(n));
      for (const Arc& arc : arcs) reach[arc.from][arc.to] = true;
      for (size_t via = 0; via < n; ++via) {
        for (size_t a = 0; a < n; ++a) {
          for (size_t b = 0; b < n; ++b) {
            if (reach[a][via] && reach[via][b]) reach[a][b] = true;
          }
        }
      }
      for (Vertex a = 0; a < n; ++a) {
        for (Vertex b = 0; b < n; ++b) {
          ASSERT_EQ(s.reach(a, b), reach[a][b])
              << level_info(level).name << ", round " << round << ": " << a << " → " << b;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::internal
