// The search by values finds an order of a small history exactly if the oracle does: where it keeps all states of every layer, it
// tries everything.
#include "prefix_search/value_beam.h"

#include <gtest/gtest.h>

#include "cases.h"
#include "history/random_draft.h"
#include "infer/problem.h"
#include "oracle/oracle.h"

namespace assay::internal {
namespace {

using enum LevelId;

TEST(ValueBeamAgreement, withTheOracleOnRepeatedValues) {
  Rng rng(rotated(7));
  const RandomShape shape = {
      .timed = 0, .duplicates = 0.9, .own_initial = 0.2, .single_op = 0, .unknown = 0};
  uint64_t compared = 0, satisfied = 0;
  for (uint64_t i = 0; i < scaled(20'000, 200); ++i) {
    const Draft draft = random_draft(rng, shape);
    const auto history = draft.history();
    if (!history.ok()) continue;
    const Problem problem = make_problem(*history);
    if (problem.nodes() == 0 || problem.found.bad_read.anomaly != Anomaly::none) continue;
    for (const LevelId level : {prefix, session_si, session_serializable}) {
      const Outcome expected = oracle::decide(*history, level);
      ASSERT_NE(expected, Outcome::unknown);
      Budget budget;
      const auto order = search_by_values(problem, level_info(level), budget);
      ASSERT_EQ(order.has_value(), expected == Outcome::satisfied) << level_info(level).name << "\n"
                                                                   << draft.text();
      ++compared;
      satisfied += expected == Outcome::satisfied;
    }
  }
  EXPECT_GT(5 * satisfied, compared);
  EXPECT_LT(satisfied, compared);
}

}  // namespace
}  // namespace assay::internal
