#include "certify/present_keys.h"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"

namespace assay::internal::certify {
namespace {

// Against a set of the standard library, at sizes with one level, two and three.
TEST(NumberSet, FindsTheNextNumber) {
  for (const uint32_t limit : {1u, 63u, 64u, 65u, 4096u, 5000u, 300'000u}) {
    Rng rng(limit);
    NumberSet numbers(limit);
    std::set<uint32_t> expected;
    for (int i = 0; i < 3000; ++i) {
      const auto number = static_cast<uint32_t>(rng.below(limit));
      if (rng.chance(0.5)) {
        numbers.insert(number);
        expected.insert(number);
      } else {
        numbers.erase(number);
        expected.erase(number);
      }
      ASSERT_EQ(numbers.size(), expected.size());
      const auto from = static_cast<uint32_t>(rng.below(limit + 1));
      const auto next = expected.lower_bound(from);
      ASSERT_EQ(numbers.next(from), next == expected.end() ? kNone : *next)
          << limit << ", from " << from;
    }
  }
}

TEST(NumberSet, OfNothingHasNothing) {
  EXPECT_EQ(NumberSet(0).next(0), kNone);
  NumberSet one(1);
  one.insert(0);
  EXPECT_EQ(one.next(0), 0u);
  EXPECT_EQ(one.next(1), kNone);
  one.erase(0);
  EXPECT_EQ(one.next(0), kNone);
}

}  // namespace
}  // namespace assay::internal::certify
