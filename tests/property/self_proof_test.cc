// What an explanation names violates its level by itself: the history of its transactions alone is
// checked again.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "assay/verify.h"
#include "cases.h"
#include "explain/explain.h"
#include "history/projection.h"
#include "levels/walk.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

bool violates(const History& history, LevelId level) {
  CheckOptions options;
  options.levels = {level};
  const CheckResult result = decide_levels(history, options);
  const Verdict* verdict = result.find(level);
  return verdict != nullptr && verdict->outcome == Outcome::violated &&
         verify(result.certificates[verdict->certificate], history).ok();
}

Result<History> part(const History& history, const std::vector<TxnId>& transactions) {
  std::vector<bool> keep(history.op_count());
  for (const TxnId t : transactions)
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i) keep[i] = true;
  return project(history, keep);
}

struct Counts {
  uint64_t explanations = 0, self_proving = 0, minimal = 0;
};

void look_at(const History& history, const Explanation& e, Counts& counts) {
  ++counts.explanations;
  if (!e.self_proving) return;
  ++counts.self_proving;
  const Result<History> named = part(history, e.transactions);
  ASSERT_TRUE(named.ok());
  ASSERT_TRUE(violates(*named, e.level)) << level_info(e.level).name;
  for (const LevelId level : e.levels)
    ASSERT_TRUE(violates(*named, level)) << level_info(level).name;
  for (const OpId op : e.operations)
    ASSERT_TRUE(
        std::binary_search(e.transactions.begin(), e.transactions.end(), history.txn_of(op)));
  counts.minimal += e.minimal;
}

TEST(SelfProof, WhatIsNamedViolatesTheLevelByItself) {
  const RandomShape shapes[] = {
      {},
      {.duplicates = 1},
      {.duplicates = 0.3, .lists = 1},
      {.duplicates = 0.1, .rich = 1},
      {.duplicates = 0.1, .rich = 1, .predicates = 0.6},
      {.duplicates = 0.5, .list_key = 1, .rich = 1, .predicates = 0.4, .texts = 0},
      {.ordered = 1},
      {.max_txns = 9, .max_keys = 2, .timed = 1, .single_op = 1}};
  Rng rng(rotated(23));
  Counts counts;
  for (uint64_t i = 0; i < scaled(3'400, 1'700); ++i) {
    const Draft draft = random_draft(rng, shapes[i % std::size(shapes)]);
    const Result<History> history = draft.history();
    if (!history.ok()) continue;
    CheckOptions options;
    if (i % 3 == 0) options.levels = {all_levels()[rng.below(all_levels().size())].id};
    const CheckResult result = decide_levels(*history, options);
    for (const Explanation& e : explain(*history, result)) {
      look_at(*history, e, counts);
      if (HasFatalFailure()) FAIL() << draft.text();
    }
  }
  RecordProperty("explanations", static_cast<int>(counts.explanations));
  RecordProperty("self-proving", static_cast<int>(counts.self_proving));
  RecordProperty("minimal", static_cast<int>(counts.minimal));
  EXPECT_GT(counts.explanations, scaled(1'500, 100));
  EXPECT_GE(counts.self_proving * 100, counts.explanations * 96);
  EXPECT_GE(counts.minimal * 100, counts.self_proving * 95);
}

}  // namespace
}  // namespace assay::internal
