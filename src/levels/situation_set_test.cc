#include "levels/situation_set.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace assay::internal {
namespace {

TEST(SituationSet, KeepsEachOnceWhileItGrows) {
  SituationSet set;
  Budget budget;
  constexpr uint64_t kMany = 10'000;
  for (int round = 0; round < 2; ++round) {
    Rng rng(7);
    for (uint64_t i = 0; i < kMany; ++i) {
      const Situation s{rng.below(100), rng.below(uint64_t{1} << 60)};  // many share a slot
      EXPECT_EQ(set.insert(s, budget), round == 0);
    }
    EXPECT_EQ(set.size(), kMany);
  }
  EXPECT_TRUE(set.insert({0, 0}, budget));
  EXPECT_FALSE(set.insert({0, 0}, budget));
}

TEST(SituationSet, DoesNotGrowBeyondTheBudget) {
  SituationSet set;
  Budget budget(0, 1);
  EXPECT_TRUE(set.insert({1, 2}, budget));
  EXPECT_EQ(set.size(), 0u);
  EXPECT_TRUE(budget.exhausted());
}

}  // namespace
}  // namespace assay::internal
