// A history that shows an anomaly had a candidate for it: nothing that could have shown is said to
// be without.
#include "audit/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "assay/audit.h"
#include "cases.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

bool has_candidates(Anomaly a) {
  const auto all = anomalies_with_candidates();
  return std::ranges::find(all, a) != all.end();
}

bool is_cyclic(Anomaly a) { return a >= Anomaly::session_guarantee_violation; }

TEST(CandidatesOfRandomHistories, WhateverIsFoundHadOne) {
  const RandomShape shapes[] = {{},
                                {.max_keys = 2, .max_ops = 2},
                                {.timed = 0},
                                {.duplicates = 1},
                                {.lists = 1},
                                {.rich = 1},
                                {.duplicates = 0.1, .rich = 1, .predicates = 0.6},
                                {.ordered = 1},
                                {.rich = 0.5, .ordered = 0.6, .loose = 0.4, .named = 0.9},
                                {.max_txns = 9, .max_keys = 2, .timed = 1, .single_op = 1},
                                {.own_initial = 1}};
  Rng rng(rotated(52));
  std::map<std::string_view, int> found;
  for (uint64_t i = 0; i < scaled(20'000, 2'000); ++i) {
    const Draft draft = random_draft(rng, shapes[i % std::size(shapes)]);
    Result<History> history = draft.history();
    if (!history.ok()) continue;
    AuditOptions options;
    options.check.levels = {all_levels()[rng.below(all_levels().size())].id};
    options.check.threads = 1;
    const Audit checked = audit(std::move(*history), "random", options);
    ASSERT_TRUE(checked.stakes);
    for (const Explanation& e : checked.explanations) {
      // A contradiction that needs no cycle has its name from the level.
      if (!has_candidates(e.anomaly) || (is_cyclic(e.anomaly) && e.arrows.empty())) continue;
      const std::string_view name = anomaly_info(e.anomaly).name;
      ++found[name];
      const LevelId level = checked.result.verdicts[0].level;
      EXPECT_TRUE(checked.stakes->could_show[static_cast<size_t>(e.anomaly)])
          << name << " at " << level_info(level).name << "\n"
          << draft.text();
      // Everything rules out that a read returns what nobody wrote, whatever another one returned.
      EXPECT_TRUE(rules_out(level, e.anomaly) || e.anomaly == Anomaly::non_repeatable_read)
          << name << " at " << level_info(level).name << "\n"
          << draft.text();
    }
  }
  for (const auto& [name, count] : found) RecordProperty(std::string(name), count);
  EXPECT_GE(found.size(), 10u);
}

}  // namespace
}  // namespace assay::internal
