#include "base/progress.h"

#include <gtest/gtest.h>

namespace assay::internal {
namespace {

TEST(Progress, ShowsBarPercentAndText) {
  EXPECT_EQ(progress_text("run", 0.5, {}, "12 aborted", 80),
            "run  [##########----------]   50 %  12 aborted");
  EXPECT_EQ(progress_text("run", 1.0, {}, "", 80), "run  [####################]  100 %");
  EXPECT_EQ(progress_text("run", 7.0, {}, "", 80), "run  [####################]  100 %");
}

TEST(Progress, LeavesTheBarOutWhereTheEndIsUnknown) {
  EXPECT_EQ(progress_text("read", -1, {}, "3 MB", 80), "read  3 MB");
}

TEST(Progress, SaysHowLongItWillTakeStill) {
  EXPECT_EQ(progress_text("run", 0.5, 40.2, "x", 80),
            "run  [##########----------]   50 %  about 40 s left  x");
  EXPECT_EQ(progress_text("run", 0.5, 200, "", 80),
            "run  [##########----------]   50 %  about 3 min left");
  EXPECT_EQ(progress_text("run", 0.5, 8000, "", 80),
            "run  [##########----------]   50 %  about 2 h left");
  EXPECT_EQ(progress_text("run", 1, 0, "", 80), "run  [####################]  100 %");
}

TEST(Progress, TheTimeLeftIsThatOfTheStage) {
  Remaining remaining;
  EXPECT_FALSE(remaining.seconds(100, 0.1));
  EXPECT_FALSE(remaining.seconds(101, 0.2));  // too early to say
  EXPECT_NEAR(*remaining.seconds(104, 0.5), 5, 1e-9);
  EXPECT_FALSE(remaining.seconds(105, -1));
  EXPECT_FALSE(remaining.seconds(110, 0.1));  // another stage
  EXPECT_FALSE(remaining.seconds(120, 0.11));
  EXPECT_NEAR(*remaining.seconds(120, 0.3), 35, 1e-9);
  EXPECT_NEAR(*remaining.seconds(145, 1), 0, 1e-9);
}

TEST(Progress, CutsToTheWidthWithoutSplittingACharacter) {
  EXPECT_EQ(progress_text("abcdef", -1, {}, "", 3), "abc");
  EXPECT_EQ(progress_text("ab\u00e9", -1, {}, "", 3), "ab");
  EXPECT_EQ(progress_text("abc", -1, {}, "", 0), "");
}

TEST(Progress, SilentWhenDisabled) {
  testing::internal::CaptureStderr();
  {
    ProgressLine line("run", false);
    line.update(0.5, "x");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, RewritesOneLineAndClearsIt) {
  testing::internal::CaptureStderr();
  {
    ProgressLine line("run", true);
    line.update(0.25, "x");
    line.update(0.26, "y");  // too soon to draw
  }
  const std::string out = testing::internal::GetCapturedStderr();
  EXPECT_NE(out.find("25 %  x"), std::string::npos);
  EXPECT_EQ(out.find("26 %"), std::string::npos);
  EXPECT_TRUE(out.ends_with("\r\033[K"));
}

}  // namespace
}  // namespace assay::internal
