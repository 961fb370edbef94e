#include "evidence/binlog_rows.h"

#include <gtest/gtest.h>

namespace assay::internal::evidence {
namespace {

using namespace std::string_literals;

// k varbinary(200), v longblob: as MariaDB 10.11 describes it.
const BinlogTable kTable{"assay", "assay_kv", "\x0f\xfc", "\xc8\x00\x04"s};

std::string text(const BinlogRow& row) {
  std::string out;
  for (const auto& cell : row) out += (out.empty() ? "" : " ") + cell.value_or("NULL");
  return out;
}

TEST(BinlogRows, RowsBeforeAndAfter) {
  const auto rows = binlog_rows(kTable,
                                "\xfc\x03"
                                "1:7\x02\x00\x00\x00"
                                "42"
                                "\xfe\x03"
                                "1:7"s);
  ASSERT_TRUE(rows && rows->size() == 2);
  EXPECT_EQ(text((*rows)[0]), "1:7 42");
  EXPECT_EQ(text((*rows)[1]), "1:7 NULL");
}

TEST(BinlogRows, LongKeysHaveTwoBytesOfLength) {
  const auto rows = binlog_rows({"assay", "t", "\x0f", "\x00\x04"s}, "\xfe\x02\x00xy"s);
  ASSERT_TRUE(rows && rows->size() == 1);
  EXPECT_EQ(text((*rows)[0]), "xy");
}

TEST(BinlogRows, RefusesWhatItCannotRead) {
  EXPECT_FALSE(binlog_rows(kTable,
                           "\xfc\x03"
                           "1:"s));
  EXPECT_FALSE(binlog_rows(kTable,
                           "\xfc\x03"
                           "1:7\xff\xff\xff\xff"s));
  EXPECT_FALSE(binlog_rows({"assay", "t", "\x03", ""}, "\xfe\x01\x00\x00\x00"s));  // an integer
  EXPECT_FALSE(binlog_rows({"assay", "t", "\x0f", ""}, "\xfe\x01x"s));
}

}  // namespace
}  // namespace assay::internal::evidence
