// The simulated database's own log: with it Adya's levels are decided, and what is wrong with it is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "assay/check.h"
#include "simulated.h"

namespace assay::internal {
namespace {

using collect::GenerateOptions;
using collect::LogBug;
using enum LevelId;

constexpr LevelId kAdya[] = {pl_1, pl_2, pl_cs, pl_2_plus, pl_2_99, pl_3};

GenerateOptions options_of(LevelId level) {
  GenerateOptions options;
  options.level = level;
  options.txns = 50;
  options.workload_options.keys = 30;
  options.workload_options.ops = 4;
  options.version_order = true;
  return options;
}

CheckResult checked(const GenerateOptions& options) {
  CheckOptions all;
  for (const LevelInfo& level : all_levels()) all.levels.push_back(level.id);
  if (options.timestamps) all.expected_order.emplace();
  return check(make(options), all);
}

TEST(SimulatedLog, DecidesAdyasLevels) {
  for (const collect::WorkloadInfo& workload : collect::all_workloads()) {
    for (const LevelId level : {session_si, serializable}) {
      GenerateOptions options = options_of(level);
      options.workload = workload.name;
      const CheckResult result = checked(options);
      for (const LevelId adya : kAdya) {
        const Verdict& v = *result.find(adya);
        EXPECT_NE(v.outcome, Outcome::unknown)
            << workload.name << ", " << level_info(adya).name << ": " << v.reason;
        if (implies(level, adya)) {
          EXPECT_EQ(v.outcome, Outcome::satisfied)
              << workload.name << ", " << level_info(adya).name;
        }
      }
      EXPECT_EQ(result.find(level)->outcome, Outcome::satisfied) << workload.name;
    }
  }
}

// How many of the seeds show it.
template <class Shows>
int shown(LogBug bug, Shows shows) {
  int seeds = 0;
  GenerateOptions options = options_of(serializable);
  options.log_bug = bug;
  options.timestamps = bug == LogBug::wrong_times;
  for (options.seed = 1; options.seed <= 200; ++options.seed) seeds += shows(checked(options));
  return seeds;
}

TEST(SimulatedLog, ADirtyWriteIsOne) {
  EXPECT_EQ(200, shown(LogBug::dirty_write, [](const CheckResult& result) {
              return result.find(pl_1)->outcome == Outcome::violated;
            }));
}

TEST(SimulatedLog, AnotherOrderThanTheInstalledOneIsACycle) {
  EXPECT_EQ(200, shown(LogBug::other_order, [](const CheckResult& result) {
              return result.find(pl_1)->outcome == Outcome::satisfied &&
                     result.find(pl_2)->outcome == Outcome::violated;
            }));
}

TEST(SimulatedLog, ALostVersionIsALostCommit) {
  EXPECT_EQ(200, shown(LogBug::lost_version, [](const CheckResult& result) {
              const Verdict& v = *result.find(read_committed);
              return v.outcome == Outcome::unknown && v.cause == UnknownCause::evidence &&
                     v.reason.find("lacks its") != std::string::npos;
            }));
}

TEST(SimulatedLog, WrongTimesDoNotExplain) {
  EXPECT_EQ(200, shown(LogBug::wrong_times, [](const CheckResult& result) {
              return std::ranges::all_of(result.expected_order->replays, [](const OrderReplay& r) {
                return r.fault == OrderReplay::Fault::operation;
              });
            }));
}

}  // namespace
}  // namespace assay::internal
