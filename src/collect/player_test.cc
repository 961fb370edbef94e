#include "collect/player.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace assay::internal::collect {
namespace {

// Says that the connection 7 waits, as long as it is told to.
struct SaidToWait : LockView {
  explicit SaidToWait(std::atomic<bool>& waits) : seven_waits(waits) {}
  bool waits(uint64_t backend, std::span<const uint64_t> others) override {
    EXPECT_EQ(others.size(), 2u);
    return backend == 7 && seven_waits;
  }
  std::atomic<bool>& seven_waits;
};

TEST(Player, ALaneThatWaitsDoesNotHoldUpTheOthers) {
  std::atomic<bool> waits = true;
  Player player(std::make_unique<SaidToWait>(waits));
  const size_t seven = player.add(7), eight = player.add(8);
  std::promise<void> release;
  std::vector<int> done;
  player.tell(seven, [&] {
    release.get_future().wait();
    done.push_back(7);
  });
  EXPECT_FALSE(player.settle(seven));
  player.tell(eight, [&] { done.push_back(8); });
  EXPECT_TRUE(player.settle(eight));
  waits = false;
  release.set_value();
  EXPECT_TRUE(player.settle(seven));
  EXPECT_EQ(done, (std::vector<int>{8, 7}));
}

// Where the server says who waits, what takes its time is waited for.
TEST(Player, ASlowAnswerIsNoWait) {
  std::atomic<bool> waits = false;
  Player player(std::make_unique<SaidToWait>(waits), std::chrono::milliseconds(0));
  const size_t lane = player.add(7);
  player.add(8);
  std::promise<void> release;
  player.tell(lane, [&] { release.get_future().wait(); });
  auto settled = std::async(std::launch::async, [&] { return player.settle(lane); });
  release.set_value();
  EXPECT_TRUE(settled.get());
}

TEST(Player, WithoutAViewWhatDoesNotAnswerCountsAsWaiting) {
  Player player(nullptr, std::chrono::milliseconds(1));
  const size_t lane = player.add(0);
  std::promise<void> release;
  player.tell(lane, [&] { release.get_future().wait(); });
  EXPECT_FALSE(player.settle(lane));
  EXPECT_FALSE(player.idle(lane));
  release.set_value();
  EXPECT_TRUE(player.wait(lane, std::chrono::seconds(30)));
}

TEST(Player, ALaneDoesWhatItIsToldInOrder) {
  Player player(nullptr, std::chrono::seconds(30));
  const size_t lane = player.add(0);
  std::vector<int> done;
  for (int i = 0; i < 5; ++i) player.tell(lane, [&done, i] { done.push_back(i); });
  EXPECT_TRUE(player.settle(lane));
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace assay::internal::collect
