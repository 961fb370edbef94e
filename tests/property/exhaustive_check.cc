// Compares the checker with the oracle on every history within bounds, at every level. Takes as long as the bounds
// say; not part of the usual tests.
//
//   exhaustive_check [SESSIONS TXNS OPS KEYS TOTAL_OPS TOTAL_TXNS [ordered] [timed] [equal]]
//   default 3 3 2 2 6 9; TXNS of a session, OPS of a transaction
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "exhaustive.h"

namespace assay::internal {
namespace {

oracle::Bounds g_bounds{.sessions = 3, .txns = 3, .ops = 2, .keys = 2, .total_ops = 6};

TEST(Exhaustive, everySmallHistory) {
  const Compared counts = compare_all(g_bounds);
  EXPECT_EQ(counts.failure, "");
  std::printf(
      "%llu histories, verdicts: %llu satisfied, %llu violated, %llu undefined, "
      "%llu left open\n",
      static_cast<unsigned long long>(counts.compared),
      static_cast<unsigned long long>(counts.satisfied),
      static_cast<unsigned long long>(counts.violated),
      static_cast<unsigned long long>(counts.undefined),
      static_cast<unsigned long long>(counts.left_open));
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
  }
  return RUN_ALL_TESTS();
}
