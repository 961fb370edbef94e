#include "explain/cycle.h"

#include <gtest/gtest.h>

#include <vector>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using namespace sample;
using enum LevelId;

std::vector<EdgeKind> kinds(const Cycle& cycle) {
  std::vector<EdgeKind> kinds;
  for (const Step& step : cycle) kinds.push_back(step.edge.kind);
  return kinds;
}

// The update that both made of one version shows where each of them missed the other.
TEST(CheapestCycle, OrdersThatReadsShowNeedNoProof) {
  const History h =
      make_history({{1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}, {3, {r("x", 1), w("x", 3)}}});
  const FoundCycle found = cheapest_cycle(h, level_info(serializable), {});
  ASSERT_EQ(kinds(found.cycle), (std::vector(2, EdgeKind::anti_dependency)));
  for (const Step& step : found.cycle) {
    EXPECT_EQ(step.because, Step::Because::read_first);
    EXPECT_EQ(step.edge.via, 0u);
  }
}

// Sessions and reads lead from the first writer of x to the second, so the reader of the first one
// missed the second.
TEST(CheapestCycle, APathOrdersTwoWriters) {
  const History h = make_history({{1, {w("x", 1), w("y", 1)}},
                                  {2, {r("y", 1), w("z", 1)}},
                                  {3, {r("z", 1), w("x", 2), w("q", 1)}},
                                  {4, {r("q", 1), r("x", 1)}}});
  const FoundCycle found = cheapest_cycle(h, level_info(serializable), {});
  ASSERT_EQ(found.cycle.size(), 2u);
  for (const Step& step : found.cycle) {
    if (step.edge.kind != EdgeKind::anti_dependency) continue;
    EXPECT_EQ(step.because, Step::Because::path);
    EXPECT_EQ(step.path.size(), 2u);
  }
}

TEST(CheapestCycle, WhatAgreesHasNone) {
  const History h = make_history({{1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}});
  EXPECT_TRUE(cheapest_cycle(h, level_info(serializable), {}).cycle.empty());
}

TEST(LostUpdate, OfTwoPairsTheNamedOne) {
  const History h = make_history({{1, {r("x", kNull), w("x", 1)}},
                                  {2, {r("x", kNull), w("x", 2)}},
                                  {3, {r("y", kNull), w("y", 1)}},
                                  {4, {r("y", kNull), w("y", 2)}}});
  const Cycle any = lost_update(h, {}), named = lost_update(h, std::vector<TxnId>{2, 3});
  ASSERT_EQ(any.size(), 2u);
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(any[0].edge.from, 0u);
  EXPECT_EQ(named[0].edge.from, 2u);
}

// Where two wrote the value, each update may be of another version.
TEST(LostUpdate, OfAValueThatTwoWroteThereIsNone) {
  const History h = make_history({{1, {w("x", 1)}},
                                  {2, {w("x", 1)}},
                                  {3, {r("x", 1), w("x", 2)}},
                                  {4, {r("x", 1), w("x", 3)}}});
  EXPECT_TRUE(lost_update(h, {}).empty());
}

}  // namespace
}  // namespace assay::internal
