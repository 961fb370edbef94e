#include "evidence/postgresql_snapshot.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::internal::evidence {
namespace {

TEST(PostgresqlSnapshot, ShowsWhatHadEnded) {
  const auto snapshot = postgresql_snapshot("740:745:741,743");
  ASSERT_TRUE(snapshot);
  std::string shown;
  for (uint64_t xid = 738; xid < 748; ++xid) shown += snapshot->shows(xid) ? '1' : '0';
  EXPECT_EQ(shown, "1110101000");
  const auto quiet = postgresql_snapshot("740:740:");
  ASSERT_TRUE(quiet);
  EXPECT_TRUE(quiet->shows(739));
  EXPECT_FALSE(quiet->shows(740));
}

TEST(PostgresqlSnapshot, NothingElseIsOne) {
  for (const char* text : {"",
                           ":",
                           "::",
                           "740",
                           "740:745",
                           "740:745:741,",
                           "740:745:,741",
                           "740:745:741;743",
                           "740:745:741,741",
                           "740:745:743,741",
                           "740:745:739",
                           "740:745:745",
                           "745:740:",
                           "2:745:",
                           "0:0:",
                           "-1:745:",
                           "+3:745:",
                           " 740:745:",
                           "740 :745:",
                           "740:745:741 ",
                           "0x3:745:",
                           "740:745:741,743:9",
                           "740:18446744073709551616:",
                           "740:18446744073709551615:",
                           "740:745:99999999999999999999",
                           "740:745:741\n",
                           "a:b:c",
                           "7e2:745:",
                           "\xff:\xfe:"})
    EXPECT_FALSE(postgresql_snapshot(text)) << text;
  EXPECT_FALSE(postgresql_snapshot(std::string_view("740:745:\0", 9)));
  EXPECT_TRUE(postgresql_snapshot("740:4611686018427387904:"));
}

// The log's numbers begin again after 2^32, those of snapshots do not.
TEST(PostgresqlSnapshot, NumbersOfTheLogAreMadeWhole) {
  constexpr uint64_t kEpoch = uint64_t{1} << 32;
  EXPECT_EQ(whole_xid("739", 745), 739u);
  EXPECT_EQ(whole_xid("745", 739), 745u);
  EXPECT_EQ(whole_xid("739", 7 * kEpoch + 745), 7 * kEpoch + 739);
  EXPECT_EQ(whole_xid("4294967290", 7 * kEpoch + 5), 7 * kEpoch - 6);
  EXPECT_EQ(whole_xid("5", 7 * kEpoch - 6), 7 * kEpoch + 5);
  EXPECT_EQ(whole_xid("1073742569", 745), 1073742569u);
}

TEST(PostgresqlSnapshot, NumbersThatMayBeOthersAreRefused) {
  for (const char* far : {"1073742570", "2147484393", "4294967290", "2", "0"})
    EXPECT_FALSE(whole_xid(far, 745)) << far;
  for (const char* none : {"", " 739", "739 ", "-739", "4294967296", "99999999999999999999", "7x"})
    EXPECT_FALSE(whole_xid(none, 745)) << none;
  EXPECT_FALSE(whole_xid("739", UINT64_MAX));
}

}  // namespace
}  // namespace assay::internal::evidence
