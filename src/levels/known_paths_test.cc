#include "levels/known_paths.h"

#include <gtest/gtest.h>

namespace assay::internal {
namespace {

// Vertices 0 … 3. The history shows 0 → 1; derived are 1 → 3 in a late round, and 1 → 2, 2 → 3 in
// the first.
class KnownPathsTest : public testing::Test {
 protected:
  KnownPathsTest() {
    derive({1, 3}, 3);
    derive({1, 2}, 0);
    derive({2, 3}, 0);
  }
  void derive(Arc arc, uint32_t round) {
    DerivedEdge edge;
    edge.arc = arc;
    edge.forced = static_cast<uint32_t>(known_.forced.size());
    known_.forced.emplace_back().round = round;
    known_.edges.push_back(edge);
    graph_.add(arc);
  }

  Digraph graph_{4, std::vector<Arc>{{0, 1}}};
  KnownEdges known_;
  std::vector<Vertex> vertices_{0, 1, 2, 3};
};

using Path = std::vector<Vertex>;

TEST_F(KnownPathsTest, TwoOrdersOfTheFirstRoundAreCheaperThanALateOne) {
  EXPECT_EQ(KnownPaths(graph_, known_, nullptr).find(0, 3, 3), (Path{0, 1, 2, 3}));
}

TEST_F(KnownPathsTest, WhatIsProvedAlreadyIsFree) {
  KnownPaths paths(graph_, known_, nullptr);
  EXPECT_TRUE(paths.add_proved(0));
  EXPECT_FALSE(paths.add_proved(0));
  EXPECT_EQ(paths.find(0, 3, 3), (Path{0, 1, 3}));
}

TEST_F(KnownPathsTest, EdgesThatCameLaterAreNotUsed) {
  EXPECT_EQ(KnownPaths(graph_, known_, nullptr).find(0, 3, 1), (Path{0, 1, 3}));
}

TEST_F(KnownPathsTest, AnOrderOfTheVerticesChangesNoPath) {
  const IncrementalOrder order(graph_, vertices_);
  KnownPaths paths(graph_, known_, &order);
  EXPECT_EQ(paths.find(0, 3, 3), (Path{0, 1, 2, 3}));
  EXPECT_EQ(paths.find(1, 2, 3), (Path{1, 2}));
  EXPECT_EQ(paths.find(2, 2, 3), Path{2});
}

}  // namespace
}  // namespace assay::internal
