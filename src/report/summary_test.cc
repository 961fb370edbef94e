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

TEST(Summary, SaysWhereARunWasRecorded) {
  const auto said = [](std::string meta) {
    HistoryBuilder builder;
    builder.set_meta(std::move(meta));
    const auto history = std::move(builder).finish();
    EXPECT_TRUE(history.ok());
    return in_words(recorded_on(*history));
  };
  EXPECT_EQ(said(R"({"database":"postgres 16"})"), "postgres 16");
  EXPECT_EQ(said(R"({"database":"postgres 16","isolation":"read committed"})"),
            "postgres 16 at read committed");
  EXPECT_EQ(said(R"x({"database":{"name":"PostgreSQL","version":"PostgreSQL 15.7 (Debian 1)"}})x"),
            "PostgreSQL 15.7");
  EXPECT_EQ(
      said(R"({"isolation":"a+b","database":{"name":"SQLite","version":"3","isolation":"x"}})"),
      "SQLite 3 at a+b");
  for (const char* nothing : {"", "{}", "3", R"({"database":7})", R"({"isolation":"x"})"})
    EXPECT_EQ(said(nothing), "") << nothing;
}

}  // namespace
}  // namespace assay::internal
