// A history satisfies prefix or session SI exactly if its reduction is session-serializable.
#include "prefix_search/reduction.h"

#include <gtest/gtest.h>

#include "cases.h"
#include "checked.h"
#include "oracle/oracle.h"

namespace assay::internal {
namespace {

using enum LevelId;

TEST(Reduction, keepsTheVerdict) {
  CheckOptions checking;
  checking.levels = {session_serializable};
  Rng rng(rotated(1));
  int compared = 0, satisfied = 0;
  for (int i = 0; i < 4000; ++i) {
    const Draft draft = random_draft(rng, {.rich = 0.2});
    const auto history = draft.history();
    ASSERT_TRUE(history.ok());
    for (const LevelId level : {prefix, session_si}) {
      const auto reduced = reduce_to_serializability(*history, level);
      if (!reduced.ok()) continue;  // violates every level, or more than reads and writes
      const Outcome expected = oracle::decide(*history, level);
      std::string complaint;
      const oracle::Verdicts found = checked(*reduced, &complaint, checking);
      EXPECT_EQ(complaint, "");
      EXPECT_EQ(outcome_name(found[static_cast<size_t>(session_serializable)]),
                outcome_name(expected))
          << level_info(level).name << "\n"
          << draft.text();
      ++compared;
      satisfied += expected == Outcome::satisfied;
    }
  }
  EXPECT_GT(satisfied, compared / 10);
  EXPECT_LT(satisfied, compared - compared / 10);
}

TEST(Reduction, refusesWhatItCannotSay) {
  Draft draft;
  draft.txns.emplace_back().ops.push_back({.kind = OpKind::read, .key = 0, .value = 7});
  const auto history = draft.history();
  ASSERT_TRUE(history.ok());
  EXPECT_FALSE(reduce_to_serializability(*history, prefix).ok());
  EXPECT_FALSE(reduce_to_serializability(*history, serializable).ok());
}

}  // namespace
}  // namespace assay::internal
