#include "assay/budget.h"

#include <gtest/gtest.h>

#include <thread>

namespace assay {
namespace {

constexpr uint64_t kPlenty = uint64_t{1} << 50;

TEST(Budget, WithoutLimitsNeverRunsOut) {
  Budget none;
  Budget zeros(0, 0);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_FALSE(none.exhausted());
    ASSERT_FALSE(zeros.exhausted());
  }
  EXPECT_FALSE(none.exhausted_now());
  EXPECT_FALSE(zeros.exhausted_now());
  EXPECT_EQ(none.reason(), "");
}

TEST(Budget, TimeRunsOutForGood) {
  Budget budget(0.002, kPlenty);
  EXPECT_EQ(budget.reason(), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_TRUE(budget.exhausted_now());
  EXPECT_TRUE(budget.exhausted());
  EXPECT_EQ(budget.reason(), "the time limit of 0.002 s was reached");
}

TEST(Budget, TheCheapQuestionLooksAtTheClockNowAndThen) {
  Budget budget(1e-9, 0);
  int asked = 1;
  while (!budget.exhausted() && asked < 100'000) ++asked;
  EXPECT_LT(asked, 100'000);
}

TEST(Budget, MemoryRunsOut) {
  Budget budget(0, 1);
  EXPECT_TRUE(budget.exhausted_now());
  EXPECT_EQ(budget.reason(), "the memory limit of 0 MiB was reached");
  Budget enough(3600, kPlenty);
  EXPECT_FALSE(enough.exhausted_now());
}

TEST(Budget, ACopyRemembersWhatRanOut) {
  Budget budget(0, 1);
  ASSERT_TRUE(budget.exhausted_now());
  Budget copy = budget;
  EXPECT_TRUE(copy.exhausted());
  EXPECT_EQ(copy.reason(), budget.reason());
}

}  // namespace
}  // namespace assay
