#include "assay/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace assay::internal {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 7;
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 7);
  const Result<int> bad = usage_error("no such level");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::usage);
}

TEST(Result, ValuesCanBeMovedOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  const std::unique_ptr<int> moved = std::move(result).value();
  EXPECT_EQ(*moved, 3);
  EXPECT_EQ(*result, nullptr);
}

TEST(Error, SaysWhereAsFarAsItIsKnown) {
  Error error = bad_input("expected a key", 12, 5);
  EXPECT_EQ(error.to_string(), "line 12:5: expected a key");
  error.file = "h.jsonl";
  EXPECT_EQ(error.to_string(), "h.jsonl:12:5: expected a key");
  error.column = 0;
  EXPECT_EQ(error.to_string(), "h.jsonl:12: expected a key");
  EXPECT_EQ(io_error("cannot be opened", "h.jsonl").to_string(), "h.jsonl: cannot be opened");
  EXPECT_EQ(usage_error("two levels").to_string(), "two levels");
}

}  // namespace
}  // namespace assay::internal
