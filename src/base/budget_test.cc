#include "assay/budget.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace assay::internal {
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
  EXPECT_TRUE(none.reason().empty());
  EXPECT_FALSE(none.cause());
}

TEST(Budget, TimeRunsOutForGood) {
  Budget budget(0.002, kPlenty);
  EXPECT_TRUE(budget.reason().empty());
  while (!budget.exhausted_now()) {
  }
  EXPECT_TRUE(budget.exhausted());
  EXPECT_EQ(budget.reason().detail, "the time limit of 0.002 s was reached");
  EXPECT_EQ(budget.cause(), UnknownCause::time);
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
  EXPECT_EQ(budget.reason().detail, "the memory limit of 0 MiB was reached");
  EXPECT_EQ(budget.cause(), UnknownCause::memory);
  Budget enough(3600, kPlenty);
  EXPECT_FALSE(enough.exhausted_now());
}

TEST(Budget, WhatIsAboutToBeAllocatedCounts) {
  Budget budget(0, uint64_t{1} << 40);
  EXPECT_TRUE(budget.has_room(uint64_t{1} << 30));
  EXPECT_FALSE(budget.exhausted());
  EXPECT_FALSE(budget.has_room(uint64_t{1} << 40));
  EXPECT_TRUE(budget.exhausted());
  EXPECT_EQ(budget.cause(), UnknownCause::memory);
  EXPECT_FALSE(budget.has_room(1));
  EXPECT_TRUE(Budget().has_room(kPlenty));
}

TEST(Budget, APartOfTheTimeEndsNoLaterThanTheWhole) {
  const Budget hour(3600, kPlenty);
  Budget little = hour.within({.seconds = 0.002});
  Budget unlimited = Budget().within({.seconds = 0.002});
  Budget more = Budget(0.002, 0).within({.seconds = 3600});
  Budget none = Budget(3600, 1).within({.seconds = 10});
  EXPECT_EQ(none.exhausted_now(), true);
  for (Budget* b : {&little, &unlimited, &more}) {
    while (!b->exhausted_now()) {
    }
    EXPECT_EQ(b->cause(), UnknownCause::time);
  }
  Budget whole = hour;
  EXPECT_FALSE(whole.exhausted_now());
}

int calls_until_exhausted(Budget& budget) {
  int calls = 1;
  while (!budget.exhausted()) ++calls;
  return calls;
}

TEST(Budget, EffortIsCountedToTheCall) {
  for (const int effort : {1, 2, 1023, 1024, 1025, 5000}) {
    Budget budget(0, 0, static_cast<uint64_t>(effort));
    EXPECT_EQ(calls_until_exhausted(budget), effort);
    EXPECT_EQ(budget.cause(), UnknownCause::effort);
    EXPECT_EQ(budget.reason().detail,
              "the effort limit of " + std::to_string(effort) + " was reached");
  }
}

TEST(Budget, LookingAtTheClockIsNoEffort) {
  Budget budget(3600, kPlenty, 3000);
  for (int i = 0; i < 2999; ++i) {
    ASSERT_FALSE(budget.exhausted());
    ASSERT_FALSE(i % 7 == 0 && budget.exhausted_now());
    ASSERT_TRUE(i % 5 != 0 || budget.has_room(1));
  }
  EXPECT_EQ(budget.spent(), 2999u);
  EXPECT_TRUE(budget.exhausted());
}

TEST(Budget, SharesOfTheEffortAreSpentOfTheWhole) {
  Budget whole(0, 0, 100);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(whole.exhausted());
  EXPECT_EQ(whole.left().effort, 90u);
  EXPECT_EQ((whole.left() / 3).effort, 30u);
  Budget third = whole.within(whole.left() / 3);
  EXPECT_EQ(calls_until_exhausted(third), 30);
  EXPECT_FALSE(whole.exhausted_now());
  whole.spend(third.spent() - whole.spent());
  EXPECT_EQ(calls_until_exhausted(whole), 60);
  Budget none = Budget(0, 0, 100).within({.effort = 0});
  EXPECT_TRUE(none.exhausted_now());
  EXPECT_EQ(Budget().left().effort, (Budget().left() / 7).effort);  // no limit has no shares
}

TEST(Budget, TheMemoryLimitAlone) {
  Budget memory = Budget(1e-9, kPlenty, 1).memory_only();
  EXPECT_FALSE(memory.exhausted_now());
  EXPECT_FALSE(memory.exhausted());
  EXPECT_FALSE(memory.has_room(2 * kPlenty));
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
    Budget stops, goes_on;
    stops.stop_on_interrupt();
    Budget copy = stops;
    if (stops.exhausted_now() || copy.exhausted_now()) return 1;
    Budget::interrupt();
    if (!stops.exhausted_now() || !copy.exhausted_now() || goes_on.exhausted_now()) return 2;
    return copy.cause() == UnknownCause::interrupted && copy.reason().detail == "interrupted" ? 0
                                                                                              : 3;
  };
  EXPECT_EXIT(std::_Exit(interrupted()), testing::ExitedWithCode(0), "");
}

// How many calls may pass before a time limit or an interrupt is noticed; each stands for a little
// work.
TEST(Budget, MeasuresEveryThousandCalls) {
  const auto calls = [] {
    Budget budget;
    budget.stop_on_interrupt();
    if (budget.exhausted()) return 1;
    Budget::interrupt();
    return calls_until_exhausted(budget) == 1024 ? 0 : 2;
  };
  EXPECT_EXIT(std::_Exit(calls()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace assay::internal
