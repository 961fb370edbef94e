// A history without its names has the verdicts of the one with them, and nothing of what it held.
#include "history/anonymize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "assay/format.h"
#include "cases.h"
#include "history/random_draft.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

bool same_outcomes(const History& a, const History& b, std::string& why) {
  CheckOptions options;
  for (const LevelInfo& level : all_levels()) options.levels.push_back(level.id);
  const CheckResult before = decide_levels(a, options), after = decide_levels(b, options);
  for (size_t i = 0; i < before.verdicts.size(); ++i) {
    if (before.verdicts[i].outcome == after.verdicts[i].outcome) continue;
    why = std::string(level_info(before.verdicts[i].level).name);
    return false;
  }
  return true;
}

TEST(Anonymized, HasTheSameVerdictsAtEveryLevel) {
  const RandomShape shapes[] = {
      {},
      {.duplicates = 1},
      {.duplicates = 0.2, .lists = 1},
      {.duplicates = 0.2, .rich = 1},
      {.rich = 0.5, .ordered = 1},
      {.duplicates = 0.5, .rich = 0.5, .loose = 1, .named = 0.9, .complete = 0.4},
      {.duplicates = 1, .sourced = 1},
      {.max_txns = 9, .max_keys = 2, .timed = 1, .rich = 0.5, .single_op = 1},
      {.duplicates = 0.3, .rich = 0.5, .own_initial = 1}};
  Rng rng(rotated(61));
  uint64_t compared = 0;
  for (uint64_t i = 0; i < scaled(10'000, 500); ++i) {
    const Draft draft = random_draft(rng, shapes[i % std::size(shapes)]);
    const Result<History> history = draft.history();
    if (!history.ok() || history->has_predicates()) continue;
    const Result<History> shown = anonymized(*history);
    ASSERT_TRUE(shown.ok()) << shown.error().to_string() << "\n" << draft.text();
    ++compared;
    std::string why;
    EXPECT_TRUE(same_outcomes(*history, *shown, why)) << why << "\n" << draft.text();
    // As a file, too.
    std::string text;
    ASSERT_TRUE(write_history_text(*shown, "assay", text).ok());
    Result<ReadResult> again = read_history_text(text, "again", {"assay"});
    ASSERT_TRUE(again.ok()) << again.error().to_string() << "\n" << text;
    again->history.set_clock_drift(history->clock_drift());
    EXPECT_EQ(again->history.content_hash(), shown->content_hash()) << text;
  }
  RecordProperty("compared", static_cast<int>(compared));
  EXPECT_GT(compared, 100u);
}

}  // namespace
}  // namespace assay::internal
