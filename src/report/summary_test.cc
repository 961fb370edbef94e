#include "report/summary.h"

#include <gtest/gtest.h>

namespace assay::internal {
namespace {

TEST(Summary, ThousandsAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(100'000), "100,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(counted(1, "file", "files"), "1 file");
  EXPECT_EQ(counted(2'000, "file", "files"), "2,000 files");
}

}  // namespace
}  // namespace assay::internal
