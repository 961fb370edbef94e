#include "base/sort_by.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/rng.h"

namespace assay::internal {
namespace {

using Thing = std::pair<int64_t, std::string>;

// As std::stable_sort has them, from few numbers, so that many are equal, and the ends of the
// integers.
TEST(SortBy, IsAStableSort) {
  constexpr int64_t kNumbers[] = {
      0, 1, -1, 7, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  Rng rng(1);
  for (size_t count = 0; count < 60; ++count) {
    std::vector<Thing> things;
    for (size_t i = 0; i < count; ++i)
      things.emplace_back(kNumbers[rng.below(std::size(kNumbers))], std::to_string(i));
    std::vector<Thing> expected = things;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Thing& a, const Thing& b) { return a.first < b.first; });
    stable_sort_by(things, [](const Thing& t) { return t.first; });
    EXPECT_EQ(things, expected);
  }
}

TEST(SortBy, NumbersWithoutASignKeepTheirOrder) {
  std::vector<uint64_t> numbers = {1, std::numeric_limits<uint64_t>::max(), 0, uint64_t{1} << 63,
                                   (uint64_t{1} << 63) - 1};
  stable_sort_by(numbers, [](uint64_t n) { return n; });
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST(SortBy, SortsAPartOnly) {
  std::vector<uint32_t> numbers = {9, 5, 3, 4};
  stable_sort_by(std::span(numbers).subspan(1), [](uint32_t n) { return n; });
  EXPECT_EQ(numbers, (std::vector<uint32_t>{9, 3, 4, 5}));
}

TEST(SortBy, PackedNumbersAreOrderedByTheFirst) {
  EXPECT_LT(pack(1, 0xFFFFFFFF), pack(2, 0));
  EXPECT_LT(pack(2, 0), pack(2, 1));
  EXPECT_LT(with_sign(pack(0x7FFFFFFF, 5)), with_sign(pack(0x80000000, 0)));
}

}  // namespace
}  // namespace assay::internal
