// The simulated database's own log: with it Adya's levels are decided, and what is wrong with it is
// found.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "assay/audit.h"
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
  return check(make(options), all);
}

// Transactions of unknown outcome that the log lacks leave the order of their versions open; and so
// do, for too long, many deletions any of which a range may have seen.
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

// An order in which each transaction sees what those before it left decides them at once; which
// version each query passed over is a choice that takes too long otherwise.
TEST(SimulatedLog, DecidesAdyasLevelsOfQueriesByCondition) {
  for (const bool tombstones : {false, true}) {
    GenerateOptions options = options_of(serializable);
    options.workload = "predicates";
    options.unknown_share = 0;
    options.workload_options.tombstones = tombstones;
    CheckOptions adya;
    adya.levels.assign(std::begin(kAdya), std::end(kAdya));
    adya.budget = Budget(0, 0, 20'000'000);
    const CheckResult result = check(make(options), adya);
    for (const LevelId level : kAdya) {
      const Verdict& v = *result.find(level);
      EXPECT_EQ(v.outcome, Outcome::satisfied) << level_info(level).name << ": " << v.reason;
    }
  }
}

// Looks at as many histories, each of a database that logs like this.
template <class LooksRight>
void expect_of_all(LogBug bug, bool timestamps, LooksRight looks_right) {
  GenerateOptions options = options_of(serializable);
  options.log_bug = bug;
  options.timestamps = timestamps;
  AuditOptions auditing;
  for (const LevelInfo& level : all_levels()) auditing.check.levels.push_back(level.id);
  if (timestamps) auditing.check.expected_order.emplace();
  const uint64_t seeds = scaled(200, 2);
  for (options.seed = 1; options.seed <= seeds; ++options.seed)
    EXPECT_TRUE(looks_right(audit(make(options), "simulated", auditing)))
        << "seed " << options.seed;
}

// What the violation of a level is called.
Anomaly anomaly_at(const Audit& audit, LevelId level) {
  for (const Explanation& e : audit.explanations)
    if (std::ranges::find(e.levels, level) != e.levels.end()) return e.anomaly;
  return Anomaly::none;
}

// Every level that is decided holds, and nothing contradicts the log.
bool nothing_wrong(const CheckResult& result) {
  return std::ranges::all_of(result.verdicts, [](const Verdict& v) {
    const bool above = !implies(serializable, v.level);
    return v.cause != UnknownCause::evidence && (above || v.outcome != Outcome::violated);
  });
}

TEST(SimulatedLog, WithoutAFaultNothingIsFound) {
  for (const bool timestamps : {false, true})
    expect_of_all(LogBug::none, timestamps, [&](const Audit& audit) {
      return nothing_wrong(audit.result) &&
             (!timestamps || audit.result.expected_order->explains());
    });
}

TEST(SimulatedLog, ADirtyWriteIsOne) {
  expect_of_all(LogBug::dirty_write, false,
                [](const Audit& audit) { return anomaly_at(audit, pl_1) == Anomaly::g0; });
}

TEST(SimulatedLog, AnotherOrderThanTheInstalledOneIsACycle) {
  expect_of_all(LogBug::other_order, false, [](const Audit& audit) {
    return audit.result.find(pl_1)->outcome == Outcome::satisfied &&
           anomaly_at(audit, pl_2) == Anomaly::g1c;
  });
}

TEST(SimulatedLog, ALostVersionIsALostCommit) {
  expect_of_all(LogBug::lost_version, false, [](const Audit& audit) {
    const Verdict& v = *audit.result.find(read_committed);
    return v.outcome == Outcome::unknown && v.cause == UnknownCause::evidence &&
           v.reason.find("lost-commit") != std::string::npos;
  });
}

TEST(SimulatedLog, WrongTimesDoNotExplain) {
  expect_of_all(LogBug::wrong_times, true, [](const Audit& audit) {
    return nothing_wrong(audit.result) &&
           audit.result.expected_order->replays.front().fault == OrderReplay::Fault::operation;
  });
}

}  // namespace
}  // namespace assay::internal
