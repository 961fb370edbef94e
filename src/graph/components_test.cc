#include "graph/components.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace assay::internal {
namespace {

TEST(Components, cyclesAreWhole) {
  const std::vector<Arc> arcs = {{0, 1}, {1, 2}, {2, 0}, {2, 3}};
  const Components found = strong_components(Digraph(4, arcs));
  EXPECT_EQ(found.count, 2u);
  EXPECT_EQ(found.of[0], found.of[1]);
  EXPECT_EQ(found.of[0], found.of[2]);
  EXPECT_LT(found.of[3], found.of[0]);
}

TEST(Components, aLongPathNeedsNoDeepStack) {
  constexpr Vertex kLength = 300'000;
  std::vector<Arc> arcs;
  for (Vertex v = 0; v + 1 < kLength; ++v) arcs.push_back({v, v + 1});
  EXPECT_EQ(strong_components(Digraph(kLength, arcs)).count, kLength);
  arcs.push_back({kLength - 1, 0});
  EXPECT_EQ(strong_components(Digraph(kLength, arcs)).count, 1u);
}

TEST(Components, twoVerticesShareOneIffEachReachesTheOther) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const size_t n = 2 + rng.below(7);
    std::vector<Arc> arcs;
    std::vector<std::vector<bool>> reaches(n, std::vector<bool>(n, false));
    for (uint64_t i = rng.below(2 * n); i > 0; --i) {
      const Arc arc{static_cast<Vertex>(rng.below(n)), static_cast<Vertex>(rng.below(n))};
      if (arc.from == arc.to) continue;
      arcs.push_back(arc);
      reaches[arc.from][arc.to] = true;
    }
    for (size_t via = 0; via < n; ++via)
      for (size_t a = 0; a < n; ++a)
        for (size_t b = 0; b < n; ++b)
          if (reaches[a][via] && reaches[via][b]) reaches[a][b] = true;
    const Components found = strong_components(Digraph(n, arcs));
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b < n; ++b) {
        EXPECT_EQ(found.of[a] == found.of[b], a == b || (reaches[a][b] && reaches[b][a]));
        EXPECT_TRUE(!reaches[a][b] || found.of[a] >= found.of[b]);
      }
    }
  }
}

}  // namespace
}  // namespace assay::internal
