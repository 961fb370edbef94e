#include "graph/incremental_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/rng.h"

namespace assay::internal {
namespace {

std::vector<Vertex> identity(size_t n) {
  std::vector<Vertex> order(n);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void expect_order_of(const IncrementalOrder& order, const std::vector<Arc>& arcs) {
  for (const Arc& arc : arcs) {
    ASSERT_TRUE(order.before(arc.from, arc.to)) << arc.from << " → " << arc.to;
  }
  for (uint32_t i = 0; i < order.order().size(); ++i) {
    ASSERT_EQ(order.position(order.order()[i]), i);
  }
  std::vector<Vertex> all(order.order().begin(), order.order().end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all, identity(all.size()));
}

bool contains(const std::vector<Arc>& arcs, Arc arc) {
  return std::find(arcs.begin(), arcs.end(), arc) != arcs.end();
}

TEST(IncrementalOrder, TheExampleOfTheEssay) {
  Digraph graph(4, std::vector<Arc>{{0, 1}, {2, 3}});
  IncrementalOrder order(graph, identity(4));
  EXPECT_TRUE(order.insert({3, 0}));
  EXPECT_EQ(std::vector<Vertex>(order.order().begin(), order.order().end()),
            (std::vector<Vertex>{2, 3, 0, 1}));
}

TEST(IncrementalOrder, AnEdgeThatPointsUpwardsMovesNothing) {
  Digraph graph(3, {});
  IncrementalOrder order(graph, identity(3));
  EXPECT_TRUE(order.insert({0, 2}));
  EXPECT_EQ(std::vector<Vertex>(order.order().begin(), order.order().end()), identity(3));
  EXPECT_EQ(graph.edges(), 1u);
}

TEST(IncrementalOrder, ARefusedEdgeHasAPathBackAndIsNotThere) {
  Digraph graph(4, std::vector<Arc>{{0, 1}, {1, 2}, {0, 3}, {3, 2}, {0, 2}});
  IncrementalOrder order(graph, std::vector<Vertex>{0, 1, 3, 2});
  EXPECT_FALSE(order.insert({2, 0}));
  EXPECT_EQ(order.path_back(), (std::vector<Vertex>{0, 2}));  // the path with the fewest edges
  EXPECT_EQ(graph.edges(), 5u);
  EXPECT_FALSE(order.insert({1, 1}));
  EXPECT_EQ(order.path_back(), (std::vector<Vertex>{1}));
}

// Random edges, of which some are taken back, among `n` vertices; how many were refused.
int insert_at_random(Rng& rng, size_t n, int steps) {
  const std::vector<Arc> built = {{0, 2}, {1, 2}};
  Digraph graph(n, built);
  IncrementalOrder order(graph, topological_order(graph));
  std::vector<Arc> arcs = built;
  int refused = 0;
  for (int step = 0; step < steps; ++step) {
    if (arcs.size() > built.size() && rng.chance(0.25)) {
      order.pop();
      arcs.pop_back();
    } else {
      const Arc arc{static_cast<Vertex>(rng.below(n)), static_cast<Vertex>(rng.below(n))};
      if (arc.from == arc.to) continue;
      arcs.push_back(arc);
      const bool acyclic = topological_order(Digraph(n, arcs)).size() == n;
      EXPECT_EQ(order.insert(arc), acyclic);
      if (!acyclic) {
        arcs.pop_back();
        ++refused;
        const std::vector<Vertex>& path = order.path_back();
        EXPECT_EQ(path.front(), arc.to);
        EXPECT_EQ(path.back(), arc.from);
        for (size_t i = 0; i + 1 < path.size(); ++i)
          EXPECT_TRUE(contains(arcs, {path[i], path[i + 1]}));
      }
    }
    EXPECT_EQ(graph.edges(), arcs.size());
    expect_order_of(order, arcs);
    if (testing::Test::HasFailure()) break;
  }
  return refused;
}

TEST(IncrementalOrder, RandomInsertionsAndRemovalsAgreeWithSortingFromScratch) {
  Rng rng(11);
  int refused = 0;
  for (int round = 0; round < 60; ++round) refused += insert_at_random(rng, 3 + rng.below(12), 80);
  EXPECT_GT(refused, 100);
}

// Few edges among many vertices: what lies between two is more than what they reach, so that places
// are exchanged.
TEST(IncrementalOrder, RandomInsertionsAmongManyVerticesAgreeToo) {
  Rng rng(12);
  int refused = 0;
  for (int round = 0; round < 4; ++round) refused += insert_at_random(rng, 600, 1500);
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace assay::internal
