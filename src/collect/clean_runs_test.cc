#include "collect/clean_runs.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace assay::internal::collect {
namespace {

TEST(CleanRuns, TheRarerTheMore) {
  EXPECT_EQ(enough_clean_runs(3, 40, 0.99), 142u);
  EXPECT_EQ(enough_clean_runs(1, 40, 0.99), 3961u);
  EXPECT_EQ(enough_clean_runs(40, 40, 0.99), 2u);
  EXPECT_LT(enough_clean_runs(3, 40, 0.9), enough_clean_runs(3, 40, 0.99));
  EXPECT_EQ(enough_clean_runs(0, 40, 0.99), std::nullopt);
  EXPECT_EQ(enough_clean_runs(1, 100'000, 0.99), std::nullopt);
}

// Faults that show in one of fifty runs to nineteen of twenty, which were not mended: of ten
// thousand trials, at most one in a hundred may call them gone.
TEST(CleanRuns, HardlyAFaultThatIsThereIsCalledGone) {
  Rng rng(11);
  constexpr uint64_t kRunsBefore = 40, kTrials = 10'000;
  for (const double shown : {0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 0.95}) {
    uint64_t wrong = 0;
    for (uint64_t trial = 0; trial < kTrials;) {
      uint64_t violated = 0;
      for (uint64_t run = 0; run < kRunsBefore; ++run) violated += rng.chance(shown);
      const auto enough = enough_clean_runs(violated, kRunsBefore, 0.99);
      if (!enough) continue;  // it was not seen before
      ++trial;
      uint64_t clean = 0;
      while (clean < *enough && !rng.chance(shown)) ++clean;
      wrong += clean == *enough;
    }
    EXPECT_LE(wrong, kTrials / 100) << shown;
  }
}

}  // namespace
}  // namespace assay::internal::collect
