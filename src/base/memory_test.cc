#include "base/memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::internal {
namespace {

TEST(Memory, SomeIsFree) {
  EXPECT_GT(available_memory_bytes(), uint64_t{1} << 20);
  EXPECT_LT(available_memory_bytes(), uint64_t{1} << 50);
}

TEST(Memory, CountsWhatIsTouched) {
  constexpr uint64_t kBytes = 32u << 20;
  const uint64_t before = resident_memory_bytes();
  if (before == 0) GTEST_SKIP() << "the system does not tell";
  const std::vector<char> block(kBytes, 1);
  const uint64_t during = resident_memory_bytes();
  EXPECT_EQ(block.back(), 1);
  EXPECT_GE(during, before + kBytes / 2);
  EXPECT_GE(peak_resident_memory_bytes(), before + kBytes / 2);
}

}  // namespace
}  // namespace assay::internal
