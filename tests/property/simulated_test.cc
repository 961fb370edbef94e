// The simulated database gives the level it claims, and each of its bugs breaks exactly the levels
// that forbid the anomaly. The oracle judges, so the histories are small.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "collect/generate.h"
#include "collect/simulated/policy.h"
#include "oracle/oracle.h"
#include "oracle/selftest.h"

namespace assay {
namespace {

using collect::GenerateOptions;
using collect::Times;

// Few transactions on few keys, contended, of at most the sixteen that the oracle takes.
GenerateOptions small_options(LevelId level, uint64_t seed) {
  GenerateOptions options;
  options.level = level;
  options.seed = seed;
  options.sessions = static_cast<uint32_t>(2 + seed % 4);
  options.txns = 10 / options.sessions;
  options.workload = seed % 3 == 0 && level != LevelId::linearizable ? "mini" : "general";
  options.workload_options.ops = static_cast<uint32_t>(2 + seed % 3);
  options.workload_options.keys = 2 + seed % 2;
  options.workload_options.read_share = 0.6;
  options.times = seed % 2 == 0 ? Times::points : Times::intervals;
  options.abort_share = 0.1;
  options.unknown_share = 0.1;
  return options;
}

History make(const GenerateOptions& options) {
  collect::HistorySink sink;
  const auto stats = collect::generate(options, sink);
  EXPECT_TRUE(stats.ok()) << stats.error().to_string();
  auto history = sink.take();
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  return std::move(history).value();
}

class SimulatedLevel : public testing::TestWithParam<LevelInfo> {};

// The oracle's answers for every level; nothing if the history is too large for it.
std::optional<oracle::Verdicts> judge(const History& history) {
  oracle::Verdicts verdicts = oracle::decide_all(history);
  if (verdicts[static_cast<size_t>(LevelId::read_committed)] == Outcome::unknown)
    return std::nullopt;
  return verdicts;
}

TEST_P(SimulatedLevel, GivesItsLevelAndNoStrongerOne) {
  const LevelId level = GetParam().id;
  int judged = 0;
  std::array<int, kLevelCount> violated{};
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const auto verdicts = judge(make(small_options(level, seed)));
    if (!verdicts) continue;
    ++judged;
    for (const LevelInfo& info : default_levels()) {
      const Outcome outcome = (*verdicts)[static_cast<size_t>(info.id)];
      violated[static_cast<size_t>(info.id)] += outcome == Outcome::violated;
      if (implies(level, info.id)) {
        ASSERT_EQ(outcome_name(outcome), "satisfied") << info.name << " seed " << seed;
      }
    }
  }
  EXPECT_GE(judged, 200);
  // Contended as they are, some histories show what the level allows and a stronger one does not.
  for (const LevelInfo& info : default_levels()) {
    if (info.id == LevelId::linearizable || info.id == level || !implies(info.id, level)) continue;
    EXPECT_GT(violated[static_cast<size_t>(info.id)], 0) << "never violates " << info.name;
  }
}

struct Bug {
  LevelId level;
  Anomaly bug;
};

std::vector<Bug> bugs_by_level() {
  std::vector<Bug> result;
  for (const LevelInfo& level : default_levels()) {
    for (Anomaly bug : collect::all_bugs()) {
      if (!collect::forbids(level.id, bug)) continue;
      const bool one_operation = level.id == LevelId::linearizable;
      if (one_operation && bug != Anomaly::thin_air_read && bug != Anomaly::aborted_read &&
          bug != Anomaly::real_time_violation)
        continue;
      result.push_back({level.id, bug});
    }
  }
  return result;
}

class SimulatedBug : public testing::TestWithParam<Bug> {};

TEST_P(SimulatedBug, BreaksExactlyWhatForbidsIt) {
  const auto [level, bug] = GetParam();
  int judged = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    GenerateOptions options = small_options(level, seed);
    options.bug = bug;
    options.sessions = 4;
    options.txns = 2;
    const auto verdicts = judge(make(options));
    if (!verdicts) continue;
    ++judged;
    for (const LevelInfo& info : default_levels()) {
      if (!implies(level, info.id)) continue;
      const Outcome expected =
          collect::forbids(info.id, bug) ? Outcome::violated : Outcome::satisfied;
      ASSERT_EQ(outcome_name((*verdicts)[static_cast<size_t>(info.id)]), outcome_name(expected))
          << info.name << " seed " << seed;
    }
  }
  EXPECT_GE(judged, 10);
}

std::string test_name(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}
std::string level_name(const testing::TestParamInfo<LevelInfo>& param) {
  return test_name(param.param.name);
}
std::string bug_name(const testing::TestParamInfo<Bug>& param) {
  return test_name(level_info(param.param.level).name) + "_" +
         test_name(anomaly_info(param.param.bug).name);
}

INSTANTIATE_TEST_SUITE_P(Levels, SimulatedLevel, testing::ValuesIn(default_levels()), level_name);
INSTANTIATE_TEST_SUITE_P(Bugs, SimulatedBug, testing::ValuesIn(bugs_by_level()), bug_name);

}  // namespace
}  // namespace assay
