// The checker says what brute force from the definitions says, on every level of many random
// histories, and proves it. ASSAY_HISTORIES sets how many.
#include <gtest/gtest.h>

#include <numeric>
#include <span>

#include "assay/format.h"
#include "cases.h"
#include "checked.h"
#include "levels/walk.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

std::string as_text(const History& history) {
  std::string text;
  return write_history_text(history, "hist", text).ok() ? text : "";
}

oracle::SelftestResult expect_agreement(const oracle::SelftestOptions& options,
                                        CheckOptions checking = {}) {
  for (const LevelInfo& level : options.levels) checking.levels.push_back(level.id);
  std::string complaint;
  const auto checker = [&](const History& h) {
    const oracle::Verdicts verdicts = checked(h, &complaint, checking);
    // Nothing is refused, not even where the oracle does not know.
    EXPECT_EQ(complaint, "") << as_text(h);
    return verdicts;
  };
  oracle::SelftestResult result = oracle::selftest(checker, options);
  EXPECT_TRUE(result.ok()) << result.failure << "\n" << complaint;
  return result;
}

TEST(OracleAgreement, registers) { expect_agreement({.seed = 1, .count = histories(100'000)}); }

TEST(OracleAgreement, largerTransactions) {
  expect_agreement({.seed = 2,
                    .count = histories(10'000),
                    .shape = {.max_sessions = 5, .max_txns = 9, .max_keys = 4, .max_ops = 6}});
}

TEST(OracleAgreement, manyShortTransactions) {
  expect_agreement({.seed = 3,
                    .count = histories(20'000),
                    .shape = {.max_sessions = 6, .max_txns = 9, .max_keys = 2, .max_ops = 2}});
}

// Elements appended twice leave some undecided; what is decided must be right.
TEST(OracleAgreement, lists) {
  expect_agreement({.seed = 4,
                    .count = histories(20'000),
                    .shape = {.duplicates = 0.1, .lists = 1},
                    .may_abstain = true});
}

TEST(OracleAgreement, removesInsertsComparisonsAndRanges) {
  expect_agreement({.seed = 5, .count = histories(5'000), .shape = {.duplicates = 0.1, .rich = 1}});
}

// Keys that hold something before anything is written, which a range has to return.
TEST(OracleAgreement, initialValuesOfKeys) {
  expect_agreement({.seed = 40, .count = histories(8'000), .shape = {.own_initial = 1}});
  expect_agreement({.seed = 41,
                    .count = histories(8'000),
                    .shape = {.duplicates = 0.2, .rich = 1, .predicates = 0.4, .own_initial = 1},
                    .may_abstain = true});
  expect_agreement(
      {.seed = 42,
       .count = histories(8'000),
       .shape =
           {.duplicates = 0.2, .rich = 1, .predicates = 1, .aggregates = 0.7, .own_initial = 1},
       .may_abstain = true});
  expect_agreement({.seed = 43,
                    .count = histories(8'000),
                    .shape = {.max_txns = 9,
                              .max_keys = 2,
                              .timed = 1,
                              .rich = 0.5,
                              .own_initial = 1,
                              .single_op = 1}});
}

TEST(OracleAgreement, valuesWrittenTwice) {
  expect_agreement({.seed = 7, .count = histories(8'000), .shape = {.duplicates = 1}});
}

TEST(OracleAgreement, singleOperations) {
  expect_agreement({.seed = 6,
                    .count = histories(20'000),
                    .shape = {.max_txns = 9, .max_keys = 2, .timed = 1, .single_op = 1}});
}

// The search over prefixes, level by level. What it calls violated the graph must prove, so a level
// is only right if both are.
TEST(OracleAgreement, dbcop) {
  CheckOptions checking;
  checking.engine = EngineId::dbcop;
  checking.speed_ups.set(SpeedUp::carry, false);
  expect_agreement({.seed = 9, .count = histories(5'000)}, checking);
  checking.speed_ups.set(SpeedUp::carry, true);
  expect_agreement({.seed = 10, .count = histories(2'000)}, checking);
  expect_agreement({.seed = 11,
                    .count = histories(4'000),
                    .shape = {.lists = 0.5, .rich = 0.3},
                    .may_abstain = true},
                   checking);
}

TEST(OracleAgreement, randomWaysToCheck) {
  Rng rng(rotated(12));
  std::string complaint;
  const auto checker = [&](const History& h) { return checked(h, &complaint, random_way(rng)); };
  const auto result = oracle::selftest(checker, {.seed = 12, .count = histories(15'000)});
  EXPECT_TRUE(result.ok()) << result.failure << "\n" << complaint;
}

// Adya's levels come first, then the session guarantees.
constexpr size_t kAdyaCount = 6;
std::span<const LevelInfo> adya_levels() { return all_levels().first(kAdyaCount); }
std::span<const LevelInfo> weak_on_request() { return all_levels().subspan(kAdyaCount, 5); }

TEST(OracleAgreement, sessionGuarantees) {
  expect_agreement({.seed = 21, .count = histories(15'000), .levels = weak_on_request()});
  expect_agreement({.seed = 22,
                    .count = histories(10'000),
                    .shape = {.max_sessions = 3, .max_txns = 9, .max_keys = 2, .max_ops = 3},
                    .levels = weak_on_request()});
}

TEST(OracleAgreement, sessionGuaranteesOfListsAndAmbiguousReads) {
  expect_agreement({.seed = 23,
                    .count = histories(8'000),
                    .shape = {.duplicates = 0.5, .lists = 0.5, .rich = 0.3},
                    .levels = weak_on_request(),
                    .may_abstain = true});
}

// Where the version order is not known the checker may refute, but no more.
TEST(OracleAgreement, adyaLevels) {
  const auto result = expect_agreement({.seed = 24,
                                        .count = histories(4'000),
                                        .shape = {.lists = 1},
                                        .levels = adya_levels(),
                                        .may_abstain = true});
  EXPECT_LT(std::accumulate(result.abstained.begin(), result.abstained.end(), uint64_t{0}),
            result.histories);
  expect_agreement(
      {.seed = 25, .count = histories(2'000), .levels = adya_levels(), .may_abstain = true});
  expect_agreement({.seed = 26,
                    .count = histories(1'500),
                    .shape = {.duplicates = 0.3, .rich = 1},
                    .levels = adya_levels(),
                    .may_abstain = true});
}

TEST(OracleAgreement, adyaLevelsWithKnownVersionOrders) {
  expect_agreement(
      {.seed = 27, .count = histories(5'000), .shape = {.ordered = 1}, .levels = adya_levels()});
  expect_agreement({.seed = 28,
                    .count = histories(1'500),
                    .shape = {.rich = 1, .ordered = 1},
                    .levels = adya_levels(),
                    .may_abstain = true});
}

// Without any of its speed-ups the checker says the same, as far as it says anything.
TEST(OracleAgreement, adyaLevelsInRandomWays) {
  Rng rng(rotated(42));
  std::string complaint;
  const auto checker = [&](const History& h) {
    CheckOptions way = random_way(rng);
    for (const LevelInfo& level : adya_levels()) way.levels.push_back(level.id);
    const oracle::Verdicts verdicts = checked(h, &complaint, way);
    EXPECT_EQ(complaint, "") << as_text(h);
    return verdicts;
  };
  const RandomShape shapes[] = {{.lists = 1},
                                {.duplicates = 0.3, .rich = 1},
                                {.rich = 1, .predicates = 0.5, .ordered = 1},
                                {.duplicates = 0.3, .lists = 0.3, .rich = 0.4, .loose = 1},
                                {.duplicates = 0.7, .ordered = 0.5, .named = 0.9, .sourced = 1}};
  uint64_t seed = 60;
  for (const RandomShape& shape : shapes) {
    const auto result = oracle::selftest(checker, {.seed = seed++,
                                                   .count = histories(4'000),
                                                   .shape = shape,
                                                   .levels = adya_levels(),
                                                   .may_abstain = true});
    EXPECT_TRUE(result.ok()) << result.failure << "\n" << complaint;
  }
}

TEST(OracleAgreement, rangesWithConditions) {
  expect_agreement(
      {.seed = 40, .count = histories(3'000), .shape = {.rich = 1, .predicates = 0.7}});
  expect_agreement({.seed = 41,
                    .count = histories(2'000),
                    .shape = {.duplicates = 0.2, .rich = 1, .predicates = 0.6, .ordered = 1},
                    .levels = adya_levels(),
                    .may_abstain = true});
}

TEST(OracleAgreement, ordersThatNameTransactions) {
  expect_agreement(
      {.seed = 29,
       .count = histories(3'000),
       .shape = {.duplicates = 0.7, .rich = 0.5, .ordered = 1, .named = 0.9, .complete = 0.3},
       .may_abstain = true});
}

TEST(OracleAgreement, readsThatStateTheirSources) {
  expect_agreement({.seed = 33,
                    .count = histories(4'000),
                    .shape = {.duplicates = 0.9, .sourced = 1},
                    .levels = all_levels(),
                    .may_abstain = true});
  expect_agreement(
      {.seed = 34,
       .count = histories(2'000),
       .shape = {.duplicates = 0.7, .rich = 0.7, .ordered = 0.5, .named = 0.9, .sourced = 1},
       .levels = all_levels(),
       .may_abstain = true});
  expect_agreement({.seed = 35,
                    .count = histories(2'000),
                    .shape = {.max_txns = 9,
                              .max_keys = 2,
                              .timed = 1,
                              .duplicates = 1,
                              .sourced = 1,
                              .single_op = 1},
                    .levels = all_levels(),
                    .may_abstain = true});
}

// Asked for alone, a level gets the verdict that it gets beside the others.
TEST(OracleAgreement, aLevelAlone) {
  Rng rng(rotated(32));
  uint64_t decided = 0;
  const uint64_t cases = histories(1'500);
  for (uint64_t i = 0; i < cases; ++i) {
    const RandomShape shape{.max_txns = 9, .duplicates = 0.3, .rich = 0.8, .loose = 0.2};
    const Draft draft = random_draft(rng, shape);
    const Result<History> history = draft.history();
    if (!history.ok()) continue;
    const CheckResult together = decide_levels(*history, {});
    for (const Verdict& v : together.verdicts) {
      CheckOptions alone;
      alone.levels = {v.level};
      const CheckResult result = decide_levels(*history, alone);
      EXPECT_EQ(outcome_name(result.find(v.level)->outcome), outcome_name(v.outcome))
          << level_info(v.level).name << "\n"
          << draft.text();
      decided += v.outcome != Outcome::unknown;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(decided, cases);
}

// Overwritten and aborted versions, several lines, values that two transactions wrote.
TEST(OracleAgreement, looseVersionOrders) {
  expect_agreement({.seed = 30,
                    .count = histories(4'000),
                    .shape = {.duplicates = 0.2, .lists = 0.4, .loose = 1},
                    .levels = all_levels(),
                    .may_abstain = true});
  expect_agreement({.seed = 31,
                    .count = histories(2'000),
                    .shape = {.duplicates = 0.2, .rich = 1, .loose = 1},
                    .levels = all_levels(),
                    .may_abstain = true});
}

// What they imply and what implies them.
std::vector<LevelInfo> around_statement_snapshots() {
  std::vector<LevelInfo> levels;
  for (const LevelId id :
       {LevelId::pl_2, LevelId::read_your_writes, LevelId::monotonic_reads, LevelId::read_committed,
        LevelId::statement_snapshot, LevelId::session_si, LevelId::session_serializable})
    levels.push_back(level_info(id));
  return levels;
}

std::vector<LevelInfo> statement_snapshots_alone() {
  return {level_info(LevelId::statement_snapshot)};
}

const RandomShape kStatementShapes[] = {
    {},
    {.joined = 0.4},
    {.max_sessions = 5, .max_txns = 8, .max_keys = 3, .max_ops = 5, .joined = 0.3},
    {.max_sessions = 6, .max_txns = 9, .max_keys = 2, .max_ops = 3, .joined = 0.6},
    {.timed = 0, .joined = 0.3, .isolation = RandomShape::Isolation::read_committed},
    {.ordered = 1, .joined = 0.3},
    {.lists = 1, .joined = 0.3},
};
// Reads with several possible writers, and queries, leave some undecided.
const RandomShape kOpenStatementShapes[] = {
    {.duplicates = 0.5, .joined = 0.3},
    {.rich = 1, .joined = 0.3},
    {.rich = 1, .predicates = 0.6, .joined = 0.3},
    {.duplicates = 0.3, .lists = 0.4, .rich = 0.5, .loose = 1, .named = 0.5, .joined = 0.2},
};

// Most are decided, and none wrongly.
TEST(OracleAgreement, statementSnapshots) {
  const std::vector<LevelInfo> alone = statement_snapshots_alone();
  const std::vector<LevelInfo> around = around_statement_snapshots();
  uint64_t seed = 70;
  for (const RandomShape& shape : kStatementShapes) {
    expect_agreement({.seed = seed++, .count = histories(10'000), .shape = shape, .levels = alone});
    expect_agreement({.seed = seed++,
                      .count = histories(3'000),
                      .shape = shape,
                      .levels = around,
                      .may_abstain = true});
  }
  for (const RandomShape& shape : kOpenStatementShapes) {
    const auto result = expect_agreement({.seed = seed++,
                                          .count = histories(5'000),
                                          .shape = shape,
                                          .levels = alone,
                                          .may_abstain = true});
    const auto at = static_cast<size_t>(LevelId::statement_snapshot);
    EXPECT_LT(result.abstained[at], result.histories / 20);
  }
}

TEST(OracleAgreement, statementSnapshotsInRandomWays) {
  Rng rng(rotated(43));
  std::string complaint;
  const std::vector<LevelInfo> alone = statement_snapshots_alone();
  const auto checker = [&](const History& h) {
    CheckOptions way = random_way(rng);
    way.levels = {LevelId::statement_snapshot};
    const oracle::Verdicts verdicts = checked(h, &complaint, way);
    EXPECT_EQ(complaint, "") << as_text(h);
    return verdicts;
  };
  uint64_t seed = 100;
  for (const RandomShape& shape : kStatementShapes) {
    const auto result = oracle::selftest(checker, {.seed = seed++,
                                                   .count = histories(4'000),
                                                   .shape = shape,
                                                   .levels = alone,
                                                   .may_abstain = true});
    EXPECT_TRUE(result.ok()) << result.failure << "\n" << complaint;
  }
}

TEST(OracleAgreement, theWholeLattice) {
  expect_agreement({.seed = 29,
                    .count = histories(5'000),
                    .shape = {.lists = 0.5, .ordered = 0.5},
                    .levels = all_levels(),
                    .may_abstain = true});
}

// Every speed-up has a switch, and none changes a verdict.
TEST(OracleAgreement, everyWayToCheck) {
  for (const CheckOptions& way : ways_to_check()) {
    expect_agreement({.seed = 8, .count = histories(2'000)}, way);
  }
}

}  // namespace
}  // namespace assay::internal
