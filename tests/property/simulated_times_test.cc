// The simulated database's own times, replayed: they explain what its clients saw, and whatever bug
// is planted they do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "cases.h"
#include "collect/simulated/policy.h"
#include "levels/expected_order.h"
#include "simulated.h"

namespace assay::internal {
namespace {

using collect::GenerateOptions;
using enum LevelId;

GenerateOptions options_of(std::string_view workload, LevelId level) {
  GenerateOptions options;
  options.workload = workload;
  options.level = level;
  options.txns = 100;
  options.workload_options.keys = 50;
  options.workload_options.ops = 4;
  options.timestamps = true;
  options.unknown_share = 0;
  return options;
}

// The replay at `level` of what the options make.
OrderReplay::Fault replayed(const GenerateOptions& options, LevelId level) {
  const History history = make(options);
  Budget unlimited;
  const ExpectedReplays all = replay_expected_order(make_problem(history), {}, {}, unlimited);
  EXPECT_EQ(all.obstacle, "");
  const auto found = std::ranges::find_if(
      all.replays, [level](const ExpectedReplay& r) { return r.result.level == level; });
  EXPECT_NE(found, all.replays.end());
  return found == all.replays.end() ? OrderReplay::Fault::none : found->result.fault;
}

class SimulatedTimes : public testing::TestWithParam<std::string_view> {};

TEST_P(SimulatedTimes, Explain) {
  EXPECT_EQ(replayed(options_of(GetParam(), session_si), session_si), OrderReplay::Fault::none);
  for (const LevelId level : {serializable, session_serializable, strict_serializable})
    EXPECT_EQ(replayed(options_of(GetParam(), level), serializable), OrderReplay::Fault::none);
}

std::vector<std::string_view> workloads() {
  std::vector<std::string_view> names;
  for (const collect::WorkloadInfo& w : collect::all_workloads()) names.push_back(w.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Property, SimulatedTimes, testing::ValuesIn(workloads()),
                         [](const auto& one) { return test_name(one.param); });

TEST(SimulatedTimes, DoNotExplainABug) {
  for (const LevelId level : {session_si, serializable}) {
    for (const Anomaly bug : collect::all_bugs()) {
      GenerateOptions options = options_of(collect::workload_for(bug), level);
      options.bug = bug;
      if (!collect::forbids(level, bug)) continue;
      for (options.seed = 1; options.seed <= scaled(20, 2); ++options.seed)
        EXPECT_NE(replayed(options, level), OrderReplay::Fault::none)
            << anomaly_info(bug).name << " at " << level_info(level).name << ", seed "
            << options.seed;
    }
  }
}

TEST(SimulatedTimes, AreThereWhereATransactionSeesOnePoint) {
  for (const LevelId level : {read_committed, read_atomic, causal}) {
    collect::HistorySink sink;
    const auto made = collect::generate(options_of("general", level), sink);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().message.find("has no timestamps"), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::internal
