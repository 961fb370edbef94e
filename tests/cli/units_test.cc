#include "cli/units.h"

#include <gtest/gtest.h>

namespace assay::internal::cli {
namespace {

TEST(Units, Times) {
  EXPECT_DOUBLE_EQ(*parse_seconds("60"), 60);
  EXPECT_DOUBLE_EQ(*parse_seconds("60s"), 60);
  EXPECT_DOUBLE_EQ(*parse_seconds("1.5h"), 5400);
  EXPECT_DOUBLE_EQ(*parse_seconds("500ms"), 0.5);
  EXPECT_DOUBLE_EQ(*parse_seconds("2m"), 120);
}

TEST(Units, Sizes) {
  EXPECT_EQ(*parse_bytes("1024B"), 1024u);
  EXPECT_EQ(*parse_bytes("4G"), 4ull << 30);
  EXPECT_EQ(*parse_bytes("512MiB"), 512ull << 20);
  EXPECT_EQ(*parse_bytes("0.5K"), 512u);
}

TEST(Units, Shares) {
  EXPECT_DOUBLE_EQ(*parse_share("50%"), 0.5);
  EXPECT_DOUBLE_EQ(*parse_share("0.25"), 0.25);
  EXPECT_DOUBLE_EQ(*parse_share("0%"), 0);
  EXPECT_DOUBLE_EQ(*parse_share("1"), 1);
  for (const char* text : {"", "101%", "1.5", "-1%", "half"}) EXPECT_FALSE(parse_share(text).ok());
}

TEST(Units, WhatIsNoAmountIsRefusedWithAnExample) {
  for (const char* text : {"", "s", "-5s", "0", "5 s", "5x", "1.2.3s", "1e9s", "inf", "nan"}) {
    const auto r = parse_seconds(text);
    ASSERT_FALSE(r.ok()) << text;
    EXPECT_NE(r.error().message.find("60s"), std::string::npos);
    EXPECT_EQ(r.error().kind, ErrorKind::usage);
  }
  for (const char* text : {"", "G", "-1G", "0", "4X", "4", "99999999999999T", "0.1B"})
    EXPECT_FALSE(parse_bytes(text).ok()) << text;
}

}  // namespace
}  // namespace assay::internal::cli
