#include "assay/budget.h"

#include <gtest/gtest.h>

#include <cstdlib>
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
  EXPECT_EQ(budget.cause(), Budget::Cause::time);
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
  EXPECT_EQ(budget.cause(), Budget::Cause::memory);
  Budget enough(3600, kPlenty);
  EXPECT_FALSE(enough.exhausted_now());
}

TEST(Budget, WhatIsAboutToBeAllocatedCounts) {
  Budget budget(0, uint64_t{1} << 40);
  EXPECT_TRUE(budget.has_room(uint64_t{1} << 30));
  EXPECT_FALSE(budget.exhausted());
  EXPECT_FALSE(budget.has_room(uint64_t{1} << 40));
  EXPECT_TRUE(budget.exhausted());
  EXPECT_EQ(budget.cause(), Budget::Cause::memory);
  EXPECT_FALSE(budget.has_room(1));
  EXPECT_TRUE(Budget().has_room(kPlenty));
}

TEST(Budget, APartOfTheTimeEndsNoLaterThanTheWhole) {
  const Budget hour(3600, kPlenty);
  Budget little = hour.within(0.002);
  Budget unlimited = Budget().within(0.002);
  Budget more = Budget(0.002, 0).within(3600);
  Budget none = Budget(3600, 1).within(10);
  EXPECT_EQ(none.exhausted_now(), true);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  for (Budget* b : {&little, &unlimited, &more}) {
    EXPECT_TRUE(b->exhausted_now());
    EXPECT_EQ(b->cause(), Budget::Cause::time);
  }
  Budget whole = hour;
  EXPECT_FALSE(whole.exhausted_now());
}

TEST(Budget, ACopyRemembersWhatRanOut) {
  Budget budget(0, 1);
  ASSERT_TRUE(budget.exhausted_now());
  Budget copy = budget;
  EXPECT_TRUE(copy.exhausted());
  EXPECT_EQ(copy.reason(), budget.reason());
}

// The flag stays for the rest of the process, so it is set in one of its own.
TEST(Budget, AnInterruptExhaustsThoseThatHeedIt) {
  const auto interrupted = [] {
    Budget heeds, not_asked;
    heeds.heed_interrupts();
    Budget copy = heeds;
    if (heeds.exhausted_now() || copy.exhausted_now()) return 1;
    Budget::interrupt();
    if (!heeds.exhausted_now() || !copy.exhausted_now() || not_asked.exhausted_now()) return 2;
    return copy.cause() == Budget::Cause::interrupt && copy.reason() == "interrupted" ? 0 : 3;
  };
  EXPECT_EXIT(std::_Exit(interrupted()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace assay
