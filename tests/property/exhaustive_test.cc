// Oracle, checker and verifier agree at every level on every small history: all of up to three
// transactions, and a share of those of four, of those with stated orders and of those with times.
// ASSAY_EXHAUSTIVE=all tries them all.
#include "exhaustive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "assay/check.h"
#include "checked.h"

namespace assay::internal {
namespace {

// Every so many histories are tried. ASSAY_TEST_SCALE below one, as under sanitizers, tries fewer.
uint64_t step(uint64_t usual) {
  const char* asked = std::getenv("ASSAY_EXHAUSTIVE");
  if (asked != nullptr && std::string(asked) == "all") return 1;
  const char* scale = std::getenv("ASSAY_TEST_SCALE");
  const double factor = scale == nullptr ? 1 : std::clamp(std::atof(scale), 0.001, 1.0);
  return static_cast<uint64_t>(std::llround(static_cast<double>(usual) / factor));
}

oracle::Bounds bounds(int txns, int total_ops) {
  return {
      .sessions = 3, .txns = txns, .ops = 2, .keys = 2, .total_ops = total_ops, .total_txns = txns};
}

// The numbers say that none is lost.
void expect_agreement(const oracle::Bounds& bounds, uint64_t usual_step, uint64_t enumerated) {
  const Compared counts = compare_all(bounds, step(usual_step));
  EXPECT_EQ(counts.failure, "");
  EXPECT_EQ(counts.enumerated, enumerated);
  EXPECT_EQ(counts.given_up, 0u);
  EXPECT_GT(counts.satisfied, 0u);
  EXPECT_GT(counts.violated, 0u);
}

TEST(Exhaustive, upToThreeTransactions) { expect_agreement(bounds(3, 6), 1, 32'264); }

TEST(Exhaustive, upToFourTransactions) { expect_agreement(bounds(4, 8), 31, 2'989'646); }

TEST(Exhaustive, statedOrders) {
  oracle::Bounds stated = bounds(3, 6);
  stated.ordered = true;
  expect_agreement(stated, 3, 65'056);
}

TEST(Exhaustive, times) {
  oracle::Bounds timed = bounds(3, 6);
  timed.timed = true;
  expect_agreement(timed, 11, 460'629);
}

TEST(Exhaustive, equalTimes) {
  oracle::Bounds timed = bounds(3, 4);
  timed.timed = timed.equal_times = true;
  expect_agreement(timed, 11, 315'892);
}

// A checker that lets a write skew pass at one level is found, with the smallest history that shows
// it.
TEST(ExhaustiveCanary, aWrongVerdictIsFound) {
  CheckOptions every_level;
  for (const LevelInfo& level : all_levels()) every_level.levels.push_back(level.id);
  std::string complaint;
  const auto lenient = [&](const History& h) {
    oracle::Verdicts verdicts = checked(h, &complaint, every_level);
    if (verdicts[static_cast<size_t>(LevelId::session_si)] == Outcome::satisfied)
      verdicts[static_cast<size_t>(LevelId::session_serializable)] = Outcome::satisfied;
    return verdicts;
  };
  const Compared counts = compare_all(bounds(3, 6), 1, 0, lenient);
  EXPECT_NE(counts.failure.find("session-serializable: the oracle says violated, the checker says "
                                "satisfied"),
            std::string::npos)
      << counts.failure;
}

}  // namespace
}  // namespace assay::internal
