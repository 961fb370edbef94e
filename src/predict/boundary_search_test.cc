// What comparisons with all executions of small histories do not reach.
#include "predict/boundary_search.h"

#include <gtest/gtest.h>

#include "history/test_history.h"

namespace assay::internal::predict {
namespace {

using sample::kNull, sample::make_history, sample::r, sample::w;

OtherSources found_in(const History& history, uint64_t effort = 0) {
  Budget budget(0, 0, effort);
  auto found = find_other_sources(history, LevelId::causal, budget);
  EXPECT_TRUE(found.ok());
  return std::move(*found);
}

// A and B write x, C and D write y. Whichever of A and B is first, and of C and D, two readers are
// in each other's way; but no two transactions have an order that everything else implies.
TEST(BoundarySearch, NoCycleHasToFollow) {
  const OtherSources found = found_in(make_history({{1, {w("x", 1), w("a", 1)}},
                                                    {2, {w("x", 2), w("b", 1)}},
                                                    {3, {w("y", 1), w("c", 1)}},
                                                    {4, {w("y", 2), w("d", 1)}},
                                                    {5, {r("x", 1), r("c", 1), r("d", 1)}},
                                                    {6, {r("x", 2), r("c", 1), r("d", 1)}},
                                                    {7, {r("y", 1), r("a", 1), r("b", 1)}},
                                                    {8, {r("y", 2), r("a", 1), r("b", 1)}}}));
  ASSERT_TRUE(found.stops.has_value());
  EXPECT_TRUE(found.stops->cuts.empty());
  EXPECT_EQ(found.allowed, 1u);
}

TEST(BoundarySearch, FewestChangesFirst) {
  const OtherSources found = found_in(make_history({{1, {w("x", 1)}},
                                                    {1, {w("y", 1), r("x", 1), r("z", kNull)}},
                                                    {2, {w("z", 2), r("x", 1), r("y", 1)}},
                                                    {2, {w("x", 3)}}}));
  ASSERT_TRUE(found.stops.has_value());
  ASSERT_EQ(found.stops->cuts.size(), 1u);
  EXPECT_EQ(found.stops->cuts[0].sources.size(), 1u);
}

TEST(BoundarySearch, GivesUp) {
  const OtherSources found = found_in(
      make_history({{1, {w("x", 1)}}, {2, {r("x", 1), r("y", kNull)}}, {2, {r("x", 1)}}}), 2);
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.reason, "the effort limit of 2 was reached");
}

}  // namespace
}  // namespace assay::internal::predict
