// The checker on histories of the simulated database, larger than the oracle can take: the right
// level is never rejected, and a bug is found, called by its name, and held against no level that
// allows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "assay/verify.h"
#include "cases.h"
#include "collect/simulated/policy.h"
#include "explain/explain.h"
#include "levels/walk.h"
#include "simulated.h"

namespace assay::internal {
namespace {

using collect::GenerateOptions;

GenerateOptions options_for(LevelId level, uint64_t seed) {
  constexpr Distribution kDistributions[] = {Distribution::uniform, Distribution::zipfian,
                                             Distribution::hotspot, Distribution::exponential};
  GenerateOptions options;
  options.level = level;
  options.seed = seed;
  options.sessions = static_cast<uint32_t>(5 + seed % 5);
  options.txns = 4 + seed % 9;
  options.workload = seed % 5 == 0 && level != LevelId::linearizable ? "mini" : "general";
  options.workload_options.ops = static_cast<uint32_t>(2 + seed % 7);
  options.workload_options.keys = 3 + seed % 20;
  options.workload_options.read_share = 0.3 + 0.1 * static_cast<double>(seed % 6);
  options.workload_options.distribution = kDistributions[seed % 4];
  options.times = seed % 2 == 0 ? collect::Times::points : collect::Times::intervals;
  options.abort_share = 0.05;
  options.unknown_share = 0.05;
  return options;
}

class SimulatedLevelCheck : public testing::TestWithParam<LevelInfo> {};

TEST_P(SimulatedLevelCheck, IsNeverRejected) {
  const LevelId level = GetParam().id;
  for (uint64_t seed = 1; seed <= scaled(1000); ++seed) {
    const History history = make(options_for(level, seed));
    CheckOptions options;
    options.levels = {level};
    const CheckResult result = decide_levels(history, options);
    ASSERT_EQ(outcome_name(result.find(level)->outcome), "satisfied") << "seed " << seed;
    const Status verified = verify(result.certificates[result.find(level)->certificate], history);
    ASSERT_TRUE(verified.ok()) << "seed " << seed << ": " << verified.error().to_string();
  }
}

// Writes down one session after the other, so that the order of the lines tells nothing about that
// of the commits.
class SessionBySession : public collect::Sink {
 public:
  Status header(std::string_view meta) override { return to_.header(meta); }
  Status transaction(const collect::TxnRecord& record) override {
    if (records_.size() <= record.session) records_.resize(record.session + 1);
    records_[record.session].push_back(record);
    return Ok{};
  }
  Status event(int64_t at, std::string_view json) override { return to_.event(at, json); }
  Status order(const collect::OrderRecord& record) override { return to_.order(record); }
  Status finish() override {
    for (const auto& session : records_)
      for (const collect::TxnRecord& record : session)
        if (Status s = to_.transaction(record); !s.ok()) return s;
    return to_.finish();
  }
  Result<History> take() { return to_.take(); }

 private:
  collect::HistorySink to_;
  std::vector<std::vector<collect::TxnRecord>> records_;
};

// With little to guess the order of commits from, it takes several proposals; also with many
// transactions of unknown outcome, which continue no session.
TEST(SimulatedWithoutTimes, CausalIsDecidedInSeveralRounds) {
  size_t rejected = 0;
  for (uint64_t seed = 1; seed <= scaled(300, 6); ++seed) {
    GenerateOptions generated = options_for(LevelId::causal, seed);
    generated.workload = "general";
    generated.sessions = static_cast<uint32_t>(3 + seed % 9);
    generated.txns = 60;
    generated.times = collect::Times::none;
    generated.unknown_share = seed % 3 == 0 ? 0.3 : 0;
    if (seed % 2 == 0) generated.bug = Anomaly::causality_violation;
    SessionBySession sink;
    const auto stats = collect::generate(generated, sink);
    ASSERT_TRUE(stats.ok()) << stats.error().to_string();
    const auto history = sink.take();
    ASSERT_TRUE(history.ok());
    CheckOptions options;
    options.levels = {LevelId::causal};
    const CheckResult result = decide_levels(*history, options);
    const Verdict& verdict = *result.find(LevelId::causal);
    ASSERT_EQ(outcome_name(verdict.outcome), seed % 2 == 0 ? "violated" : "satisfied") << seed;
    const Status verified = verify(result.certificates[verdict.certificate], *history);
    ASSERT_TRUE(verified.ok()) << "seed " << seed << ": " << verified.error().to_string();
    rejected += seed % 2 == 0;
  }
  EXPECT_GT(rejected, 1u);
}

class SimulatedBugCheck : public testing::TestWithParam<Anomaly> {};

TEST_P(SimulatedBugCheck, IsFoundAndNamed) {
  const Anomaly bug = GetParam();
  for (const LevelInfo& base : default_levels()) {
    // Linearizable has single operations only, and few bugs; simulated_test has them.
    if (base.id == LevelId::linearizable || !collect::forbids(base.id, bug)) continue;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      GenerateOptions generated = options_for(base.id, seed);
      generated.bug = bug;
      if (collect::workload_for(bug) != "general") generated.workload = collect::workload_for(bug);
      const History history = make(generated);
      CheckOptions options;
      for (const LevelInfo& level : default_levels())
        if (implies(base.id, level.id)) options.levels.push_back(level.id);
      const CheckResult result = decide_levels(history, options);
      const auto explanations = explain(history, result);
      for (const Verdict& verdict : result.verdicts) {
        const bool forbidden = collect::forbids(verdict.level, bug);
        ASSERT_EQ(outcome_name(verdict.outcome), forbidden ? "violated" : "satisfied")
            << level_info(verdict.level).name << " of " << base.name << ", seed " << seed;
        if (!forbidden) continue;
        const Explanation* explanation = find_explanation(explanations, verdict.level);
        ASSERT_NE(explanation, nullptr);
        EXPECT_EQ(anomaly_info(explanation->anomaly).name, anomaly_info(bug).name)
            << level_info(verdict.level).name << " of " << base.name << ", seed " << seed;
      }
    }
  }
}

std::string level_name(const testing::TestParamInfo<LevelInfo>& param) {
  return test_name(param.param.name);
}
std::string planted_bug_name(const testing::TestParamInfo<Anomaly>& param) {
  return test_name(anomaly_info(param.param).name);
}

INSTANTIATE_TEST_SUITE_P(Levels, SimulatedLevelCheck, testing::ValuesIn(default_levels()),
                         level_name);
INSTANTIATE_TEST_SUITE_P(Bugs, SimulatedBugCheck, testing::ValuesIn(collect::all_bugs()),
                         planted_bug_name);

}  // namespace
}  // namespace assay::internal
