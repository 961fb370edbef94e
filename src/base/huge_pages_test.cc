#include "base/huge_pages.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace assay::internal {
namespace {

TEST(HugePages, RoomDoublesAndKeepsWhatIsThere) {
  std::vector<uint32_t> v;
  size_t moves = 0;
  for (uint32_t i = 0; i < 3'000'000; ++i) {
    const size_t room = v.capacity();
    push_back_roomy(v, i);
    moves += v.capacity() != room;
  }
  EXPECT_LE(moves, 20u);
  ASSERT_EQ(v.size(), 3'000'000u);
  for (uint32_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], i);
}

TEST(HugePages, AdviceOnLittleOrNothingIsHarmless) {
  advise_huge_pages(nullptr, 0);
  const char little[100] = {};
  advise_huge_pages(little, sizeof little);
  EXPECT_EQ(little[0], 0);
}

}  // namespace
}  // namespace assay::internal
