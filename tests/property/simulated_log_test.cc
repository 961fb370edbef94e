// The simulated database's own log: with it Adya's levels are decided, and what is wrong with it is found.
#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "assay/check.h"
#include "cases.h"
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

// Transactions of unknown outcome that the log lacks leave the order of their versions open; and so do, for too long, many
// deletions any of which a range may have seen.
TEST(SimulatedLog, DecidesAdyasLevels) {
  for (const collect::WorkloadInfo& workload : collect::all_workloads()) {
    // Of keys that ranges do not return too much is open.
    if (workload.name.starts_with("v-range") || workload.name == "predicates") continue;
    for (const LevelId level : {session_si, serializable}) {
      GenerateOptions options = options_of(level);
      options.workload = workload.name;
      options.unknown_share = 0;
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

// An order in which each transaction sees what those before it left decides them at once; which version each query passed over
// is a choice that takes too long otherwise.
TEST(SimulatedLog, DecidesAdyasLevelsOfQueriesByCondition) {
  for (const bool tombstones : {false, true}) {
    GenerateOptions options = options_of(serializable);
    options.workload = "predicates";
    options.unknown_share = 0;
    options.workload_options.tombstones = tombstones;
    CheckOptions adya;
    adya.levels.assign(std::begin(kAdya), std::end(kAdya));
    adya.budget = Budget(60, 0);
    const CheckResult result = check(make(options), adya);
    for (const LevelId level : kAdya) {
      const Verdict& v = *result.find(level);
      EXPECT_EQ(v.outcome, Outcome::satisfied) << level_info(level).name << ": " << v.reason;
    }
  }
}

// Every seed shows it.
template <class Shows>
void expect_shown(LogBug bug, Shows shows) {
  GenerateOptions options = options_of(serializable);
  options.log_bug = bug;
  options.timestamps = bug == LogBug::wrong_times;
  const uint64_t seeds = scaled(200, 2);
  for (options.seed = 1; options.seed <= seeds; ++options.seed)
    EXPECT_TRUE(shows(checked(options))) << "seed " << options.seed;
}

TEST(SimulatedLog, ADirtyWriteIsOne) {
  expect_shown(LogBug::dirty_write, [](const CheckResult& result) {
    return result.find(pl_1)->outcome == Outcome::violated;
  });
}

TEST(SimulatedLog, AnotherOrderThanTheInstalledOneIsACycle) {
  expect_shown(LogBug::other_order, [](const CheckResult& result) {
    return result.find(pl_1)->outcome == Outcome::satisfied &&
           result.find(pl_2)->outcome == Outcome::violated;
  });
}

TEST(SimulatedLog, ALostVersionIsALostCommit) {
  expect_shown(LogBug::lost_version, [](const CheckResult& result) {
    const Verdict& v = *result.find(read_committed);
    return v.outcome == Outcome::unknown && v.cause == UnknownCause::evidence &&
           v.reason.find("lacks its") != std::string::npos;
  });
}

TEST(SimulatedLog, WrongTimesDoNotExplain) {
  expect_shown(LogBug::wrong_times, [](const CheckResult& result) {
    return result.expected_order->replays.front().fault == OrderReplay::Fault::operation;
  });
}

}  // namespace
}  // namespace assay::internal
