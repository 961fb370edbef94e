// The search by values finds an order of a small history exactly if the oracle does: where it keeps
// all states of every layer, it tries everything.
#include "prefix_search/value_beam.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "cases.h"
#include "history/test_history.h"
#include "infer/problem.h"
#include "oracle/oracle.h"
#include "oracle/random_draft.h"

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
      const auto order = search_by_values(problem, level_info(level), 2'000'000, budget);
      ASSERT_EQ(order.has_value(), expected == Outcome::satisfied) << level_info(level).name << "\n"
                                                                   << draft.text();
      ++compared;
      satisfied += expected == Outcome::satisfied;
    }
  }
  EXPECT_GT(5 * satisfied, compared);
  EXPECT_LT(satisfied, compared);
}

// What ten sessions do one transaction after the other, listed session by session.
std::vector<sample::Txn> one_after_the_other(uint32_t count, uint64_t keys, uint64_t values,
                                             uint64_t seed) {
  Rng rng(seed);
  std::vector<sample::Value> held(keys);
  std::vector<std::vector<sample::Txn>> sessions(10);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t session = rng.below(sessions.size());
    sample::Txn txn{static_cast<int64_t>(session), {}};
    const uint64_t first = rng.below(keys);
    for (uint64_t k = first; k < first + 4; ++k)
      txn.ops.push_back(sample::r("k" + std::to_string(k % keys), held[k % keys]));
    for (uint64_t k = first + 2; k < first + 5; ++k) {
      held[k % keys] = static_cast<int64_t>(1 + rng.below(values));
      txn.ops.push_back(sample::w("k" + std::to_string(k % keys), held[k % keys]));
    }
    sessions[session].push_back(std::move(txn));
  }
  std::vector<sample::Txn> all;
  for (const std::vector<sample::Txn>& session : sessions)
    all.insert(all.end(), session.begin(), session.end());
  return all;
}

TEST(ValueBeamOnRuns, AFewValuesAreEnough) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const History history = sample::make_history(one_after_the_other(100, 5, 2, seed));
    const Problem problem = make_problem(history);
    for (const LevelId level : {session_serializable, session_si}) {
      Budget budget;
      EXPECT_TRUE(search_by_values(problem, level_info(level), 2'000'000, budget)) << seed;
    }
  }
}

// Without the search by values this effort is not enough.
TEST(ValueBeamOnRuns, DecidesWithLittleEffort) {
  const History history = sample::make_history(one_after_the_other(100, 5, 2, 1));
  CheckOptions options;
  options.levels = {session_serializable};
  options.budget = Budget(0, 0, 1'000'000);
  EXPECT_EQ(check(history, options).find(session_serializable)->outcome, Outcome::satisfied);
}

}  // namespace
}  // namespace assay::internal
