#include "graph/digraph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace assay::internal {
namespace {

std::vector<Vertex> out(const Digraph& graph, Vertex u) {
  std::vector<Vertex> found;
  graph.each_out(u, [&](Vertex v) {
    found.push_back(v);
    return true;
  });
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Vertex> in(const Digraph& graph, Vertex v) {
  std::vector<Vertex> found;
  graph.each_in(v, [&](Vertex u) {
    found.push_back(u);
    return true;
  });
  std::sort(found.begin(), found.end());
  return found;
}

bool is_cycle(const Digraph& graph, const std::vector<Vertex>& cycle) {
  for (size_t i = 0; i < cycle.size(); ++i) {
    if (graph.find({cycle[i], cycle[(i + 1) % cycle.size()]}) == Digraph::kEnd) return false;
  }
  return !cycle.empty();
}

using Arcs = std::vector<Arc>;

TEST(Digraph, BuiltEdgesAreSeenFromBothEnds) {
  const Digraph graph(4, Arcs{{0, 1}, {0, 2}, {2, 1}, {0, 1}});
  EXPECT_EQ(graph.vertices(), 4u);
  EXPECT_EQ(graph.edges(), 4u);
  EXPECT_EQ(out(graph, 0), (std::vector<Vertex>{1, 1, 2}));  // parallel edges are kept
  EXPECT_EQ(in(graph, 1), (std::vector<Vertex>{0, 0, 2}));
  EXPECT_TRUE(out(graph, 3).empty());
  EXPECT_TRUE(in(graph, 0).empty());
}

TEST(Digraph, NoVertices) {
  const Digraph graph;
  EXPECT_EQ(graph.vertices(), 0u);
  EXPECT_TRUE(topological_order(graph).empty());
  EXPECT_TRUE(find_cycle(graph).empty());
}

TEST(Digraph, WalksStopWhenTold) {
  Digraph graph(4, Arcs{{0, 1}});
  graph.add({0, 2});
  graph.add({0, 3});
  int calls = 0;
  EXPECT_FALSE(graph.each_out(0, [&](Vertex) { return ++calls < 2; }));
  EXPECT_EQ(calls, 2);
}

TEST(Digraph, AddedEdgesAreTakenBackLastFirst) {
  Digraph graph(3, Arcs{{0, 1}});
  graph.add({1, 2});
  graph.add({0, 2});
  EXPECT_EQ(graph.added(), 2u);
  EXPECT_EQ(graph.edges(), 3u);
  EXPECT_EQ(out(graph, 0), (std::vector<Vertex>{1, 2}));
  EXPECT_EQ(in(graph, 2), (std::vector<Vertex>{0, 1}));
  graph.pop();
  EXPECT_EQ(out(graph, 0), (std::vector<Vertex>{1}));
  EXPECT_EQ(in(graph, 2), (std::vector<Vertex>{1}));
  graph.pop();
  EXPECT_TRUE(in(graph, 2).empty());
  EXPECT_EQ(graph.edges(), 1u);
}

TEST(Digraph, FindTellsBuiltInFromAdded) {
  Digraph graph(3, Arcs{{0, 1}});
  EXPECT_EQ(graph.find({0, 1}), Digraph::kBuiltIn);
  EXPECT_EQ(graph.find({1, 0}), Digraph::kEnd);
  graph.add({0, 1});
  graph.add({1, 2});
  graph.add({1, 2});
  EXPECT_EQ(graph.find({0, 1}), Digraph::kBuiltIn);
  EXPECT_EQ(graph.find({1, 2}), 1u);  // the least index
  graph.pop();
  graph.pop();
  EXPECT_EQ(graph.find({1, 2}), Digraph::kEnd);
}

TEST(Digraph, EdgesComeWithTheirIndex) {
  Digraph graph(3, Arcs{{0, 1}});
  graph.add({1, 2});
  graph.add({0, 2});
  std::vector<std::pair<Vertex, uint32_t>> found;
  graph.each_out_edge(0, [&](Vertex v, uint32_t index) { found.push_back({v, index}); });
  EXPECT_EQ(found, (std::vector<std::pair<Vertex, uint32_t>>{{1, Digraph::kBuiltIn}, {2, 1}}));
}

TEST(TopologicalOrder, TiesGoToTheLowerRank) {
  const Digraph graph(4, Arcs{{3, 0}});
  EXPECT_EQ(topological_order(graph), (std::vector<Vertex>{1, 2, 3, 0}));
  const std::vector<uint32_t> rank = {0, 9, 5, 7};
  EXPECT_EQ(topological_order(graph, rank), (std::vector<Vertex>{2, 3, 0, 1}));
}

TEST(TopologicalOrder, CountsAddedAndParallelEdges) {
  Digraph graph(3, Arcs{{2, 1}, {2, 1}});
  graph.add({1, 0});
  EXPECT_EQ(topological_order(graph), (std::vector<Vertex>{2, 1, 0}));
}

TEST(TopologicalOrder, LeavesOutCyclesAndWhatFollowsThem) {
  const Digraph graph(5, Arcs{{4, 0}, {0, 1}, {1, 2}, {2, 0}, {2, 3}});
  EXPECT_EQ(topological_order(graph), (std::vector<Vertex>{4}));
}

TEST(FindCycle, NothingInAnAcyclicGraph) {
  EXPECT_TRUE(find_cycle(Digraph(3, Arcs{{0, 1}, {1, 2}, {0, 2}})).empty());
}

// Vertex 0 is on both, and 3, from which only the longer one is found, is asked later.
TEST(FindCycle, ALaterOneIsTakenOnlyIfItIsShorter) {
  const Digraph graph(6, Arcs{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {3, 4}, {4, 5}, {5, 0}});
  EXPECT_EQ(find_cycle(graph).size(), 3u);
}

TEST(FindCycle, TakesTheShortest) {
  // A ring of five, a ring of three hanging off it, and tails on both sides.
  const Digraph graph(
      10, Arcs{{8, 0}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {2, 5}, {5, 6}, {6, 2}, {6, 9}});
  const std::vector<Vertex> cycle = find_cycle(graph);
  EXPECT_EQ(cycle.size(), 3u);
  EXPECT_TRUE(is_cycle(graph, cycle));
}

TEST(FindCycle, BehindAHundredVerticesThatLieBetweenCycles) {
  Arcs arcs = {{0, 1}, {1, 2}, {2, 0}, {200, 201}, {201, 200}};
  for (Vertex v = 3; v < 200; ++v) {
    arcs.push_back({2, v});
    arcs.push_back({v, 200});
  }
  const std::vector<Vertex> cycle = find_cycle(Digraph(202, arcs));
  EXPECT_EQ(cycle, (std::vector<Vertex>{200, 201}));
  Digraph chain(203, Arcs{{200, 201}, {201, 202}, {202, 200}, {0, 1}, {1, 2}, {2, 0}});
  for (Vertex v = 3; v < 200; ++v) chain.add({v - 1, v});
  chain.add({199, 200});
  EXPECT_EQ(find_cycle(chain).size(), 3u);
}

TEST(FindCycle, AgreesWithTopologicalOrderOnRandomGraphs) {
  Rng rng(7);
  int cyclic = 0;
  for (int round = 0; round < 500; ++round) {
    const size_t vertices = 2 + rng.below(10);
    Arcs arcs;
    for (uint64_t i = rng.below(2 * vertices); i > 0; --i) {
      const Vertex u = static_cast<Vertex>(rng.below(vertices));
      const Vertex v = static_cast<Vertex>(rng.below(vertices));
      if (u != v) arcs.push_back({u, v});
    }
    const Digraph graph(vertices, arcs);
    const bool acyclic = topological_order(graph).size() == vertices;
    const std::vector<Vertex> cycle = find_cycle(graph);
    ASSERT_EQ(cycle.empty(), acyclic);
    if (acyclic) continue;
    ++cyclic;
    ASSERT_TRUE(is_cycle(graph, cycle));
    std::vector<Vertex> distinct = cycle;
    std::sort(distinct.begin(), distinct.end());
    ASSERT_EQ(std::adjacent_find(distinct.begin(), distinct.end()), distinct.end());
  }
  EXPECT_GT(cyclic, 100);
  EXPECT_LT(cyclic, 400);
}

TEST(Digraph, AShortestPathKeepsToWhatMayBePassed) {
  const Arcs arcs{{0, 1}, {1, 4}, {0, 2}, {2, 3}, {3, 4}, {4, 0}};
  const Digraph graph(5, arcs);
  const auto any = [](Vertex) { return true; };
  EXPECT_EQ(shortest_path(graph, 0, 4, any), (std::vector<Vertex>{0, 1, 4}));
  EXPECT_EQ(shortest_path(graph, 0, 4, [](Vertex v) { return v != 1; }),
            (std::vector<Vertex>{0, 2, 3, 4}));
  EXPECT_EQ(shortest_path(graph, 4, 1, any), (std::vector<Vertex>{4, 0, 1}));
  EXPECT_EQ(shortest_path(graph, 2, 2, any), (std::vector<Vertex>{2}));
}

}  // namespace
}  // namespace assay::internal
