// Compares the checker with the oracle on every history within bounds, at every level. Takes as
// long as the bounds say; not part of the usual tests.
//
//   exhaustive_check [SESSIONS TXNS OPS KEYS TOTAL_OPS TOTAL_TXNS [ordered] [timed] [equal] [share
//   K OF]] default 3 3 2 2 6 9; TXNS of a session, OPS of a transaction; share 2 64: every 64th
//   history, from the second one
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "exhaustive.h"

namespace assay::internal {
namespace {

oracle::Bounds g_bounds{.sessions = 3, .txns = 3, .ops = 2, .keys = 2, .total_ops = 6};
uint64_t g_share = 1, g_shares = 1;

TEST(Exhaustive, everySmallHistory) {
  const Compared counts = compare_all(g_bounds, g_shares, g_share - 1);
  EXPECT_EQ(counts.failure, "");
  std::printf(
      "%llu histories, verdicts: %llu satisfied, %llu violated, %llu undefined, "
      "%llu left open, %llu given up by the oracle\n",
      static_cast<unsigned long long>(counts.compared),
      static_cast<unsigned long long>(counts.satisfied),
      static_cast<unsigned long long>(counts.violated),
      static_cast<unsigned long long>(counts.undefined),
      static_cast<unsigned long long>(counts.left_open),
      static_cast<unsigned long long>(counts.given_up));
}

}  // namespace
}  // namespace assay::internal

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 6) {
    const auto asked = [&](const char* word) {
      return std::any_of(argv + 7, argv + argc,
                         [&](const char* a) { return std::string(a) == word; });
    };
    assay::internal::g_bounds = {.sessions = std::atoi(argv[1]),
                                 .txns = std::atoi(argv[2]),
                                 .ops = std::atoi(argv[3]),
                                 .keys = std::atoi(argv[4]),
                                 .total_ops = std::atoi(argv[5]),
                                 .total_txns = std::atoi(argv[6]),
                                 .ordered = asked("ordered"),
                                 .timed = asked("timed") || asked("equal"),
                                 .equal_times = asked("equal")};
    if (argc > 9 && std::string(argv[argc - 3]) == "share") {
      assay::internal::g_share = std::strtoull(argv[argc - 2], nullptr, 10);
      assay::internal::g_shares = std::strtoull(argv[argc - 1], nullptr, 10);
    }
  }
  return RUN_ALL_TESTS();
}
