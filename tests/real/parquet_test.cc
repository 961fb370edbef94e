// Parquet by DuckDB's library: what is read from it is what is read from the same table in CSV.
#include "formats/parquet.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "assay/format.h"
#include "formats/mixed_history.h"
#include "formats/temporary_folder.h"
#include "measure.h"
#include "places.h"

namespace assay::internal::formats {
namespace {

namespace fs = std::filesystem;

History read(const fs::path& path) {
  auto read = read_history(path);
  EXPECT_TRUE(read.ok()) << read.error().to_string();
  return read.ok() ? std::move(read->history) : History();
}

std::string refusal(const fs::path& path) {
  const auto read = read_history(path);
  EXPECT_FALSE(read.ok()) << path;
  return read.ok() ? "" : read.error().to_string();
}

TEST(Duckdb, ParquetHoldsTheTableOfFacts) {
  ASSAY_SERVER(paths, "duckdb");
  setenv("ASSAY_DUCKDB", paths.front().c_str(), 1);
  const TemporaryFolder folder;
  const fs::path table = folder.path("a 'table' [1]*.parquet"), csv = folder.path("table.csv");
  size_t ops = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const History h =
        MixedHistory(seed, {.strings = seed % 2 == 0, .registers_only = true}).build();
    ASSERT_TRUE(write_history(h, csv, "facts").ok());
    const auto losses = write_parquet(h, table);
    ASSERT_TRUE(losses.ok()) << losses.error().to_string();
    const History from_csv = read(csv), from_parquet = read(table);
    EXPECT_EQ(from_csv.content_hash(), from_parquet.content_hash()) << "seed " << seed;
    ops += from_parquet.op_count();
  }
  EXPECT_GT(ops, 500u);
}

TEST(Duckdb, ParquetMayHaveItsRowsInAnyOrder) {
  ASSAY_SERVER(paths, "duckdb");
  setenv("ASSAY_DUCKDB", paths.front().c_str(), 1);
  const fs::path recorded = fs::path(places::kSource) / "tests" / "recorded";
  const History from_csv = read(recorded / "facts-in-no-order.csv");
  EXPECT_EQ(from_csv.content_hash(), read(recorded / "facts-in-no-order.parquet").content_hash());
  EXPECT_GT(from_csv.op_count(), 100u);
}

TEST(Duckdb, WhatIsNoTableOfFactsIsRefused) {
  ASSAY_SERVER(paths, "duckdb");
  setenv("ASSAY_DUCKDB", paths.front().c_str(), 1);
  const TemporaryFolder folder;
  const fs::path file = folder.path("broken.parquet");
  std::ofstream(file) << "PAR1 and nothing else that belongs there";
  EXPECT_NE(refusal(file).find("broken.parquet"), std::string::npos) << refusal(file);
  const auto text = read_history_text("PAR1", "text");
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("Parquet is read from a file"), std::string::npos);
}

}  // namespace
}  // namespace assay::internal::formats
