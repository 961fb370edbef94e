#include "base/wrap.h"

#include <gtest/gtest.h>

namespace assay::internal {
namespace {

TEST(Wrap, BreaksAtBlanks) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 20), "one two three");
  EXPECT_EQ(wrapped("", 7), "");
}

TEST(Wrap, IndentsWhatFollows) {
  EXPECT_EQ(wrapped("one two three", 10, 4, 2), "one\n  two\n  three");
}

TEST(Wrap, CountsLettersAndKeepsLongWords) {
  EXPECT_EQ(columns_of("a→b"), 3u);
  EXPECT_EQ(wrapped("→→→ →→→", 7), "→→→ →→→");
  EXPECT_EQ(wrapped("a verylongword b", 5), "a\nverylongword\nb");
}

}  // namespace
}  // namespace assay::internal
