#include "collect/turns.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace assay::internal::collect {
namespace {

// What those of three sessions that have a thread do one after another: each five steps, and
// `back_off` between them if that is its session.
std::string interleaved(uint64_t seed, uint32_t backs_off = 3, uint32_t started = 3) {
  Turns turns(seed);
  std::string order;  // whose turn it is writes here, and nobody else
  turns.expect(3);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < started; ++i)
    threads.emplace_back([&, i] {
      turns.enter(i);
      for (int step = 0; step < 5; ++step) {
        order += static_cast<char>('0' + i);
        turns.back_off(i, i == backs_off ? 1'000'000 : 0);
      }
      turns.leave(i);
    });
  turns.begin(started);
  for (std::thread& t : threads) t.join();
  return order;
}

TEST(Turns, TheSeedDecidesWhoGoesOn) {
  const std::string order = interleaved(1);
  EXPECT_EQ(order.size(), 15u);
  for (int again = 0; again < 20; ++again) EXPECT_EQ(interleaved(1), order);
  EXPECT_NE(interleaved(2), order);
  // None runs to its end before another one begins.
  EXPECT_NE(order.find("01"), std::string::npos) << order;
  EXPECT_NE(order.find("20"), std::string::npos) << order;
}

TEST(Turns, WhoBacksOffIsPassedOverUntilNobodyElseIsLeft) {
  const std::string order = interleaved(1, 2);
  EXPECT_EQ(order.substr(order.size() - 4), "2222") << order;
}

TEST(Turns, ASessionWithoutAThreadIsNotWaitedFor) {
  EXPECT_EQ(interleaved(1, 3, 0), "");
  EXPECT_EQ(interleaved(1, 3, 1), "00000");
  const std::string order = interleaved(1, 3, 2);
  EXPECT_EQ(order.size(), 10u);
  for (int again = 0; again < 20; ++again) EXPECT_EQ(interleaved(1, 3, 2), order);
}

TEST(Turns, NobodyWaitsBeforeTheyBeginAndOnceAllHaveLeft) {
  Turns turns(1);
  turns.pass(7);
  turns.expect(1);
  turns.begin(1);
  turns.enter(0);
  turns.leave(0);
  turns.pass(0);
  turns.back_off(5, 1'000'000'000'000);
}

TEST(Turns, TimeGoesForward) {
  Turns turns(1);
  int64_t last = -1;
  turns.expect(1);
  turns.begin(1);
  turns.enter(0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_GT(turns.now(), last);
    last = turns.now();
    turns.back_off(0, 1000);
    EXPECT_GE(turns.now(), last + 1000);
  }
}

}  // namespace
}  // namespace assay::internal::collect
