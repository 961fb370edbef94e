#include "graph/reachability.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace assay::internal {
namespace {

// A random graph whose edges lead from lower to higher numbers, and the order of its vertices.
struct Made {
  Digraph graph;
  std::vector<Vertex> order;
};

Made random_graph(Rng& rng, size_t vertices, size_t edges, size_t longest) {
  std::vector<Arc> arcs;
  for (size_t i = 0; i < edges; ++i) {
    const auto from = static_cast<Vertex>(rng.below(vertices - 1));
    const size_t most = std::min(longest, vertices - 1 - from);
    arcs.push_back({from, from + 1 + static_cast<Vertex>(rng.below(most))});
  }
  Made made{Digraph(vertices, arcs), {}};
  made.order = topological_order(made.graph);
  return made;
}

bool reaches(const Digraph& graph, Vertex from, Vertex to) {
  std::vector<bool> met(graph.vertices());
  std::vector<Vertex> work{from};
  met[from] = true;
  while (!work.empty()) {
    const Vertex u = work.back();
    work.pop_back();
    graph.each_out(u, [&](Vertex v) {
      if (!met[v]) work.push_back(v);
      met[v] = true;
      return true;
    });
  }
  return met[to];
}

void expect_right(Rng& rng, const Made& made, size_t pairs) {
  std::vector<Arc> asked;
  const auto any = [&] { return static_cast<Vertex>(rng.below(made.graph.vertices())); };
  for (size_t i = 0; i < pairs; ++i) asked.push_back({any(), any()});
  std::vector<bool> reached;
  Budget budget;
  ASSERT_TRUE(Reachability(made.graph, made.order).answer(asked, reached, budget));
  for (size_t i = 0; i < pairs; ++i)
    EXPECT_EQ(reached[i], reaches(made.graph, asked[i].from, asked[i].to));
}

TEST(Reachability, EveryPairOfSmallGraphs) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    const size_t n = 2 + rng.below(8);
    expect_right(rng, random_graph(rng, n, rng.below(2 * n), n), 40);
  }
}

TEST(Reachability, PairsWithinAndAcrossBlocks) {
  Rng rng(2);
  for (const size_t longest : {3, 300, 3000}) {
    const Made made = random_graph(rng, 3000, 4500, longest);
    expect_right(rng, made, 300);
  }
}

TEST(Reachability, GivesUpWhenTheMemoryIsUsedUp) {
  Rng rng(3);
  const Made made = random_graph(rng, 100, 100, 10);
  Budget budget(0, 1);
  std::vector<bool> reached;
  EXPECT_FALSE(Reachability(made.graph, made.order).answer({{{0, 1}}}, reached, budget));
}

}  // namespace
}  // namespace assay::internal
