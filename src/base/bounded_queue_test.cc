#include "base/bounded_queue.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace assay::internal {
namespace {

TEST(BoundedQueue, HandsOnInOrder) {
  BoundedQueue<int> queue(2);
  std::vector<int> taken;
  {
    std::jthread taker([&] {
      while (const auto item = queue.take()) taken.push_back(*item);
    });
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(queue.put(i));
    queue.close();
  }
  ASSERT_EQ(taken.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(taken[i], i);
}

TEST(BoundedQueue, WhoeverWaitsForRoomHearsThatItIsClosed) {
  BoundedQueue<int> queue(1);
  EXPECT_TRUE(queue.put(1));
  std::jthread closer([&] { queue.close(); });
  EXPECT_FALSE(queue.put(2));
  EXPECT_EQ(queue.take(), 1);
  EXPECT_EQ(queue.take(), std::nullopt);
}

}  // namespace
}  // namespace assay::internal
