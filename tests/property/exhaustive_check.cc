// Compares the checker with the oracle on every history within bounds. Takes as long as the bounds
// say; not part of the usual tests.
//
//   exhaustive_check [SESSIONS TXNS OPS KEYS TOTAL_OPS [timed]]     default 3 3 2 2 6
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "checked.h"
#include "oracle/enumerate.h"
#include "oracle/selftest.h"

namespace assay::internal {
namespace {

oracle::Bounds g_bounds{.sessions = 3, .txns = 3, .ops = 2, .keys = 2, .total_ops = 6};

TEST(Exhaustive, everySmallHistory) {
  std::string complaint;
  const oracle::Checker checker = [&](const History& h) { return checked(h, &complaint); };
  uint64_t count = 0;
  oracle::enumerate(g_bounds, [&](const Draft& draft) {
    const std::string wrong = oracle::disagreement(checker, draft);
    EXPECT_EQ(wrong, "") << draft.text() << complaint;
    if (++count % 100'000 == 0) {
      std::fprintf(stderr, "%llu histories\n", static_cast<unsigned long long>(count));
    }
    return wrong.empty() && !testing::Test::HasFailure();
  });
  std::printf("%llu histories\n", static_cast<unsigned long long>(count));
}

}  // namespace
}  // namespace assay::internal

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 5) {
    assay::internal::g_bounds = {.sessions = std::atoi(argv[1]),
                                 .txns = std::atoi(argv[2]),
                                 .ops = std::atoi(argv[3]),
                                 .keys = std::atoi(argv[4]),
                                 .total_ops = std::atoi(argv[5]),
                                 .timed = argc > 6 && std::string(argv[6]) == "timed"};
  }
  return RUN_ALL_TESTS();
}
