#include "infer/saturation.h"

#include <gtest/gtest.h>

#include "graph/reachability.h"
#include "history/test_history.h"
#include "oracle/random_history.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;

// A history saturated at one level. The known graph must be acyclic.
struct Saturated {
  History history;
  Problem problem = make_problem(history);
  EventGraph events;
  std::vector<Vertex> known_order = topological_order(events.graph());
  IncrementalOrder order{events.graph(), known_order};
  KnownEdges known{};
  Saturation saturation{events, order, known};

  Saturated(const std::vector<sample::Txn>& txns, LevelId level)
      : Saturated(make_history(txns), level) {}
  Saturated(History h, LevelId level) : history(std::move(h)), events(problem, level_info(level)) {}
  bool known_part_is_acyclic() const { return known_order.size() == events.graph().vertices(); }
  Saturation::Result run() {
    Budget budget;
    return saturation.run(budget);
  }
  // In the graph, with the edges that were derived.
  bool reaches(Vertex from, Vertex to) {
    std::vector<bool> reached;
    Budget budget;
    return Reachability(events.graph(), order.order())
               .answer(std::vector{Arc{from, to}}, reached, budget) &&
           reached[0];
  }
  bool precedes(Node a, Node b) {
    return reaches(events.write_event(a), events.overwrite_event(b));
  }
};

TEST(Saturation, R1TheExampleOfTheEssay) {
  Saturated s({{1, {w("x", 1)}}, {2, {w("x", 2), w("y", 1)}}, {3, {r("y", 1), r("x", 1)}}},
              session_si);
  ASSERT_EQ(s.run(), Saturation::Result::fixpoint);
  EXPECT_TRUE(s.precedes(1, 0));
  EXPECT_FALSE(s.precedes(0, 1));
  ASSERT_EQ(s.known.forced.size(), 1u);
  EXPECT_EQ(s.known.forced[0].why, ForcedOrder::Why::closed);
  EXPECT_EQ(s.known.forced[0].before, 1u);
  EXPECT_EQ(s.known.forced[0].after, 0u);
  EXPECT_EQ(s.known.forced[0].reader, 2u);
  ASSERT_EQ(s.known.edges.size(), 1u);
  EXPECT_EQ(s.known.edges[0].kind, EdgeKind::write_dependency);
}

TEST(Saturation, R2AWriterThatReachesAnotherPrecedesIt) {
  // T0 → T1 by y, so its x comes first; snapshots: T1 begins after T0 committed.
  Saturated s({{1, {w("x", 1), w("y", 1)}}, {2, {r("y", 1), w("x", 2)}}, {3, {r("x", 2)}}}, prefix);
  ASSERT_EQ(s.run(), Saturation::Result::fixpoint);
  EXPECT_TRUE(s.precedes(0, 1));
}

TEST(Saturation, R3ReadersPrecedeWhoeverOverwritesTheirVersion) {
  // T0 → T1 by y; T2 read T0's x, so it precedes T1 as well.
  Saturated s({{1, {w("x", 1), w("y", 1)}}, {2, {r("y", 1), w("x", 2)}}, {3, {r("x", 1)}}},
              session_serializable);
  ASSERT_EQ(s.run(), Saturation::Result::fixpoint);
  EXPECT_TRUE(s.reaches(s.events.read_event(2), s.events.write_event(1)));
  ASSERT_FALSE(s.known.edges.empty());
  EXPECT_EQ(s.known.edges.back().kind, EdgeKind::anti_dependency);
  EXPECT_EQ(s.known.edges.back().reader, 2u);
}

TEST(Saturation, NothingIsDerivedWhereNothingIsForced) {
  Saturated s({{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {r("x", 1)}}}, session_serializable);
  ASSERT_EQ(s.run(), Saturation::Result::fixpoint);
  EXPECT_TRUE(s.known.edges.empty());
}

TEST(Saturation, ACycleComesWithItsClosingEdge) {
  // Two readers saw x and y in opposite orders.
  Saturated s(
      {{1, {w("x", 1), w("y", 1)}}, {2, {w("x", 2), w("y", 2)}}, {3, {r("x", 1), r("y", 2)}}},
      session_serializable);
  ASSERT_EQ(s.run(), Saturation::Result::cycle);
  const Arc closing = s.saturation.closing_edge().arc;
  const std::vector<Vertex>& path = s.order.path_back();
  EXPECT_EQ(path.front(), closing.to);
  EXPECT_EQ(path.back(), closing.from);
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    EXPECT_NE(s.events.graph().find({path[i], path[i + 1]}), Digraph::kEnd);
  }
}

TEST(Saturation, WithoutSessionsThereIsAClosureIfItIsWanted) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}}, {2, {r("x", 1)}}};
  EXPECT_NE(Saturated(txns, session_si).saturation.clocks(), nullptr);
  Saturated s(txns, adya_si);
  EXPECT_EQ(s.saturation.clocks(), nullptr);
  EXPECT_TRUE(s.saturation.affordable());
  EXPECT_FALSE(Saturation(s.events, s.order, s.known, {.window = 0}).affordable());
}

TEST(Saturation, UnknownTransactionsAreOnNoChain) {
  Saturated s({{1, {w("x", 1)}, TxnStatus::unknown}, {2, {r("x", 1)}}}, session_si);
  EXPECT_FALSE(s.saturation.clocks()->on_chain(0));
  EXPECT_TRUE(s.saturation.clocks()->on_chain(1));
}

TEST(Saturation, StopsWhenTheBudgetHasRunOut) {
  Saturated s({{1, {w("x", 1)}}, {2, {r("x", 1)}}}, session_si);
  Budget budget(0, 1);
  ASSERT_TRUE(budget.exhausted_now());
  EXPECT_EQ(s.saturation.run(budget), Saturation::Result::out_of_budget);
}

// The reference: a full matrix, and for every pair of writers of a key the rule "if one order
// closes a cycle, the other holds" until nothing changes.
class Naive {
 public:
  explicit Naive(const EventGraph& events)
      : events_(events),
        problem_(events.problem()),
        n_(events.graph().vertices()),
        reach_(n_ * n_) {
    for (Vertex u = 0; u < n_; ++u) {
      events.graph().each_out(u, [&](Vertex v) {
        add({u, v});
        return true;
      });
    }
  }

  bool reach(Vertex u, Vertex v) const { return u == v || reach_[u * n_ + v]; }

  // False if both orders of some pair close a cycle.
  bool saturate() {
    for (bool changed = true; changed;) {
      changed = false;
      for (KeyId key = 0; key < problem_.keys(); ++key) {
        for (WriteId a : problem_.key_writers(key)) {
          for (WriteId b : problem_.key_writers(key)) {
            if (a == b || !closes_cycle(b, a)) continue;
            if (closes_cycle(a, b)) return false;
            for (const Arc& arc : side(a, b)) changed |= add(arc);
          }
        }
      }
    }
    return true;
  }

 private:
  // The edges that follow if `a` precedes `b`.
  std::vector<Arc> side(WriteId a, WriteId b) const {
    const Node nb = problem_.writes.node[b];
    std::vector<Arc> arcs = {
        {events_.write_event(problem_.writes.node[a]), events_.overwrite_event(nb)}};
    for (Node reader : problem_.readers[a]) {
      if (reader != nb) arcs.push_back({events_.read_event(reader), events_.write_event(nb)});
    }
    return arcs;
  }
  bool closes_cycle(WriteId a, WriteId b) const {
    for (const Arc& arc : side(a, b)) {
      if (reach(arc.to, arc.from)) return true;
    }
    return false;
  }
  bool add(Arc arc) {
    if (reach(arc.from, arc.to)) return false;
    for (Vertex u = 0; u < n_; ++u) {
      for (Vertex v = 0; v < n_; ++v) {
        if (reach(u, arc.from) && reach(arc.to, v)) reach_[u * n_ + v] = true;
      }
    }
    return true;
  }

  const EventGraph& events_;
  const Problem& problem_;
  size_t n_;
  std::vector<bool> reach_;
};

struct Agreement {
  int cycles = 0;
  int derived = 0;  // fixpoints with derived edges
};

// Compares verdict and reachability with the reference.
void compare(History history, LevelId level, Agreement& seen) {
  Saturated s(std::move(history), level);
  if (s.problem.found.bad_read.anomaly != Anomaly::none || !s.known_part_is_acyclic()) return;
  Naive naive(s.events);
  const bool possible = naive.saturate();
  ASSERT_EQ(s.run(), possible ? Saturation::Result::fixpoint : Saturation::Result::cycle);
  if (!possible) {
    ++seen.cycles;
    return;
  }
  seen.derived += !s.known.edges.empty();
  const SessionClocks* clocks = s.saturation.clocks();
  for (Vertex from = 0; from < s.events.events(); ++from) {
    for (Vertex to = 0; to < s.events.events(); ++to) {
      ASSERT_EQ(s.reaches(from, to), naive.reach(from, to)) << from << " → " << to;
      if (clocks != nullptr) {
        ASSERT_EQ(clocks->reaches(from, to), naive.reach(from, to)) << from << " → " << to;
      }
    }
  }
}

// With a window of a few vertices, less is derived than with one of all, and nothing that does not
// follow.
TEST(Saturation, WhatANarrowWindowDerivesFollows) {
  Rng rng(22);
  int cycles = 0, missed = 0, derived = 0;
  for (int round = 0; round < 600; ++round) {
    Saturated s(sample::random_history(rng, sample::plain(3, 12, 4, 3)),
                round % 2 == 0 ? adya_si : serializable);
    if (s.problem.found.bad_read.anomaly != Anomaly::none || !s.known_part_is_acyclic()) continue;
    Naive naive(s.events);
    const bool possible = naive.saturate();
    Saturation narrow(s.events, s.order, s.known,
                      {.window = 4 + static_cast<uint32_t>(rng.below(12))});
    Budget budget;
    if (narrow.run(budget) == Saturation::Result::cycle) {
      EXPECT_FALSE(possible);
      ++cycles;
      continue;
    }
    missed += !possible;
    if (!possible) continue;
    for (const DerivedEdge& edge : s.known.edges) {
      ASSERT_TRUE(naive.reach(edge.arc.from, edge.arc.to));
      ++derived;
    }
  }
  EXPECT_GT(cycles, 3);
  EXPECT_GT(missed, 3);
  EXPECT_GT(derived, 50);
}

TEST(Saturation, TheFixpointIsThatOfTheNaiveRule) {
  Rng rng(21);
  for (const LevelId level : {prefix, session_si, session_serializable, adya_si, serializable}) {
    Agreement seen;
    for (int round = 0; round < 400; ++round) {
      compare(sample::random_history(rng, sample::plain(3, 6, 3, 4)), level, seen);
      compare(sample::random_history(rng, sample::plain(3, 12, 4, 3)), level, seen);
      if (HasFatalFailure()) FAIL() << level_info(level).name << ", round " << round;
    }
    EXPECT_GT(seen.cycles, 3) << level_info(level).name;
    EXPECT_GT(seen.derived, 50) << level_info(level).name;
  }
}

}  // namespace
}  // namespace assay::internal
