// Mini-transactions: the checker, which needs no transitive closure, against MTC's algorithm with
// it, and both against the definitions.
#include "oracle/mini_reference.h"

#include <gtest/gtest.h>

#include <array>

#include "cases.h"
#include "checked.h"
#include "oracle/oracle.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using enum LevelId;

constexpr int kHistories = 6000;

constexpr RandomShape kMini{
    .timed = 1, .vague = 0, .drifting = 0, .mutated = 0, .single_op = 0, .mini = 1, .unknown = 0};

TEST(MiniReference, theChecksAgreeWithTheClosure) {
  Rng rng(rotated(61));
  std::array<std::array<int, 3>, kLevelCount> outcomes{};
  for (int i = 0; i < kHistories; ++i) {
    const Draft draft = random_draft(rng, kMini);
    const auto history = draft.history();
    ASSERT_TRUE(history.ok()) << history.error().message << draft.text();
    CheckOptions options;
    options.levels = {session_si, session_serializable, strict_serializable};
    std::string complaint;
    const oracle::Verdicts found = checked(*history, &complaint, options);
    ASSERT_EQ(complaint, "") << draft.text();
    for (const LevelId level : options.levels) {
      const Outcome reference = oracle::by_mini_transactions(*history, level);
      ++outcomes[static_cast<size_t>(level)][static_cast<size_t>(reference)];
      ASSERT_EQ(outcome_name(found[static_cast<size_t>(level)]), outcome_name(reference))
          << level_info(level).name << "\n"
          << draft.text();
      ASSERT_EQ(outcome_name(oracle::decide(*history, level)), outcome_name(reference))
          << level_info(level).name << "\n"
          << draft.text();
    }
  }
  for (const LevelId level : {session_si, session_serializable, strict_serializable}) {
    const auto& count = outcomes[static_cast<size_t>(level)];
    EXPECT_GT(count[static_cast<size_t>(Outcome::satisfied)], kHistories / 20);
    EXPECT_GT(count[static_cast<size_t>(Outcome::violated)], kHistories / 20);
    EXPECT_EQ(count[static_cast<size_t>(Outcome::unknown)], 0);
  }
}

TEST(MiniReference, othersAreNotItsBusiness) {
  const Draft blind{.initial = 0,
                    .txns = {{.ops = {{.kind = OpKind::write, .key = 0, .value = 1}}}}};
  EXPECT_EQ(oracle::by_mini_transactions(*blind.history(), session_si), Outcome::unknown);
  const Draft read{.initial = 0, .txns = {{.ops = {{.kind = OpKind::read, .key = 0, .value = 0}}}}};
  EXPECT_EQ(oracle::by_mini_transactions(*read.history(), session_si), Outcome::satisfied);
  EXPECT_EQ(oracle::by_mini_transactions(*read.history(), strict_serializable), Outcome::unknown);
  EXPECT_EQ(oracle::by_mini_transactions(*read.history(), causal), Outcome::unknown);
}

}  // namespace
}  // namespace assay::internal
