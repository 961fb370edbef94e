#include "graph/blocks.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace assay::internal {
namespace {

TEST(Blocks, ATriangleAndABridge) {
  const std::vector<Link> links = {{0, 1}, {1, 2}, {2, 0}, {1, 3}};
  const Blocks blocks = biconnected_components(4, links);
  EXPECT_EQ(blocks.count, 2u);
  EXPECT_EQ(blocks.of_link[0], blocks.of_link[1]);
  EXPECT_EQ(blocks.of_link[0], blocks.of_link[2]);
  EXPECT_NE(blocks.of_link[0], blocks.of_link[3]);
}

TEST(Blocks, ParallelLinksAreACycle) {
  EXPECT_EQ(biconnected_components(2, std::vector<Link>{{0, 1}, {1, 0}}).count, 1u);
}

TEST(Blocks, ALongPathDoesNotRecurse) {
  std::vector<Link> links;
  for (Vertex v = 0; v < 1'000'000; ++v) links.emplace_back(v, v + 1);
  EXPECT_EQ(biconnected_components(1'000'001, links).count, 1'000'000u);
}

// By definition: two links that meet at v are in one block iff their other ends are joined without
// v.
bool joined_without(size_t vertices, const std::vector<Link>& links, Vertex v, Vertex a, Vertex b) {
  std::vector<uint8_t> reached(vertices, 0);
  reached[a] = 1;
  for (size_t round = 0; round < vertices; ++round) {
    for (const auto& [x, y] : links) {
      if (x != v && y != v && reached[x] != reached[y]) reached[x] = reached[y] = 1;
    }
  }
  return reached[b] != 0;
}

TEST(Blocks, RandomGraphsByDefinition) {
  Rng rng(1);
  for (int i = 0; i < 500; ++i) {
    const size_t vertices = 2 + rng.below(8);
    std::vector<Link> links;
    for (uint64_t n = rng.below(14); n > 0; --n) {
      const auto a = static_cast<Vertex>(rng.below(vertices));
      const auto b = static_cast<Vertex>(rng.below(vertices));
      if (a != b) links.emplace_back(a, b);
    }
    const Blocks blocks = biconnected_components(vertices, links);
    for (size_t p = 0; p < links.size(); ++p) {
      for (size_t q = 0; q < links.size(); ++q) {
        for (const auto& [v, a] : {links[p], Link{links[p].second, links[p].first}}) {
          for (const auto& [u, b] : {links[q], Link{links[q].second, links[q].first}}) {
            if (u != v) continue;
            EXPECT_EQ(blocks.of_link[p] == blocks.of_link[q],
                      p == q || joined_without(vertices, links, v, a, b));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::internal
