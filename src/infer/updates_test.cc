#include "infer/updates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;

struct Updated {
  History history;
  Problem problem = make_problem(history);
  EventGraph events;
  KnownEdges known{};

  Updated(const std::vector<sample::Txn>& txns, LevelId level)
      : history(make_history(txns)), events(problem, level_info(level)) {
    Budget unlimited;
    EXPECT_TRUE(add_updates(events, known, unlimited));
  }
  bool possible() const {
    return topological_order(events.graph()).size() == events.graph().vertices();
  }
  bool has(Vertex from, Vertex to, EdgeKind kind) const {
    return std::any_of(known.edges.begin(), known.edges.end(), [&](const DerivedEdge& edge) {
      return edge.arc == Arc{from, to} && edge.kind == kind;
    });
  }
};

TEST(Updates, OtherReadersComeBeforeTheUpdate) {
  // T1 updates T0's x, T2 reads it.
  const std::vector<sample::Txn> txns = {
      {1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}, {3, {r("x", 1)}}};
  const Updated u(txns, serializable);
  ASSERT_EQ(u.known.edges.size(), 1u);
  EXPECT_TRUE(u.has(u.events.read_event(2), u.events.write_event(1), EdgeKind::anti_dependency));
  EXPECT_EQ(u.known.edges[0].reader, 2u);
  ASSERT_EQ(u.known.forced.size(), 1u);
  EXPECT_EQ(u.known.forced[0].before, 0u);
  EXPECT_EQ(u.known.forced[0].after, 1u);
  EXPECT_TRUE(u.possible());
}

TEST(Updates, WhoOverwritesBlindlyIsNoUpdate) {
  const Updated u({{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {r("x", 1)}}}, serializable);
  EXPECT_TRUE(u.known.edges.empty());
  EXPECT_TRUE(u.known.forced.empty());
}

TEST(Updates, ALoneReaderOrdersNobody) {
  const Updated u({{1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}}, serializable);
  EXPECT_TRUE(u.known.edges.empty());
  EXPECT_TRUE(u.known.forced.empty());
}

TEST(Updates, TwoOfOneVersionAreACycleButAtPrefix) {
  const std::vector<sample::Txn> txns = {
      {1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}, {3, {r("x", 1), w("x", 3)}}};
  EXPECT_FALSE(Updated(txns, serializable).possible());
  EXPECT_FALSE(Updated(txns, adya_si).possible());
  EXPECT_FALSE(Updated(txns, session_si).possible());
  EXPECT_TRUE(Updated(txns, prefix).possible());
}

// Where writers of a key may overlap, two updates of one version leave open which of them was
// installed first; with single events the anti-dependencies say it all.
TEST(Updates, RivalsAreOrderedOnlyWhereTheyMayNotOverlap) {
  const std::vector<sample::Txn> txns = {
      {1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}, {3, {r("x", 1), w("x", 3)}}};
  const auto orders_rivals = [&](LevelId level) {
    const Updated u(txns, level);
    return std::any_of(u.known.edges.begin(), u.known.edges.end(), [](const DerivedEdge& edge) {
      return edge.kind == EdgeKind::write_dependency;
    });
  };
  EXPECT_TRUE(orders_rivals(adya_si));
  EXPECT_TRUE(orders_rivals(session_si));
  EXPECT_FALSE(orders_rivals(prefix));
  EXPECT_FALSE(orders_rivals(serializable));
}

TEST(Updates, EachOrderLeansOnEdgesFoundBeforeIt) {
  const Updated u({{1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}, {3, {r("x", 1), w("x", 3)}}},
                  adya_si);
  EXPECT_TRUE(
      u.has(u.events.write_event(2), u.events.overwrite_event(1), EdgeKind::write_dependency));
  for (const DerivedEdge& edge : u.known.edges) {
    const auto at = static_cast<uint32_t>(&edge - u.known.edges.data());
    EXPECT_LE(u.known.forced[edge.forced].edges_known, at);
  }
}

TEST(Updates, ManyOfOneVersionCostNoMoreThanTwo) {
  std::vector<sample::Txn> txns = {{1, {w("x", 1)}}};
  for (int i = 0; i < 50; ++i) txns.push_back({2 + i, {r("x", 1), w("x", 2 + i)}});
  EXPECT_LE(Updated(txns, prefix).known.edges.size(), 100u);
  EXPECT_LE(Updated(txns, adya_si).known.edges.size(), 101u);
}

}  // namespace
}  // namespace assay::internal
