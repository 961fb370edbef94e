// The checker on what every workload does at the simulated database, from ten transactions to ten
// thousand: a level is never rejected where it is given, and a planted bug is never accepted. Where
// sources are open (ranges, values that repeat) the checker may leave a level open; each test
// prints the share that it decides.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "assay/verify.h"
#include "cases.h"
#include "collect/simulated/policy.h"
#include "levels/walk.h"
#include "simulated.h"

namespace assay::internal {
namespace {

using collect::GenerateOptions;

// Of one check; a level that takes longer is left open.
constexpr double kSeconds = 0.1;
constexpr LevelId kLevels[] = {LevelId::read_committed, LevelId::causal, LevelId::session_si,
                               LevelId::strict_serializable};

GenerateOptions options_of(std::string_view workload, LevelId level, uint64_t txns,
                           uint64_t values) {
  GenerateOptions options;
  options.workload = workload;
  options.level = level;
  options.sessions = txns < 100 ? 5 : 10;
  options.txns = txns / options.sessions;
  options.seed = txns + values;
  options.workload_options.ops = 4;
  options.workload_options.keys = 10 + txns / 10;
  options.workload_options.values = values;
  return options;
}

// Nothing to choose from: each value read has one writer.
bool decided_for_certain(const GenerateOptions& made) {
  return made.workload_options.values == 0 && made.workload != "predicates" &&
         (made.workload_options.tombstones || !made.workload.starts_with("v-range"));
}

// How many verdicts of how many were more than `unknown`.
struct Decided {
  int verdicts = 0, decided = 0;
  void print(std::string_view what) const {
    std::printf("%.*s: %d of %d decided\n", static_cast<int>(what.size()), what.data(), decided,
                verdicts);
  }
};

// Never `wrong`; and decided where nothing is open.
void expect_never(Outcome wrong, const GenerateOptions& made, Decided& decided) {
  const History history = make(made);
  const bool certain = decided_for_certain(made);
  CheckOptions options;
  options.levels = {made.level};
  if (!certain) options.budget = Budget(kSeconds, 0);
  const CheckResult result = decide_levels(history, options);
  const Verdict& verdict = *result.find(made.level);
  const std::string which = std::string(level_info(made.level).name) + ", " + made.workload + ", " +
                            std::to_string(made.txns * made.sessions) + " transactions, values " +
                            std::to_string(made.workload_options.values) + ", bug " +
                            std::string(anomaly_info(made.bug).name);
  EXPECT_NE(outcome_name(verdict.outcome), outcome_name(wrong)) << which;
  EXPECT_TRUE(!certain || verdict.outcome != Outcome::unknown) << which << ": " << verdict.reason;
  ++decided.verdicts;
  if (verdict.outcome == Outcome::unknown) return;
  ++decided.decided;
  const Status verified = verify(result.certificates[verdict.certificate], history);
  EXPECT_TRUE(verified.ok()) << which << ": " << verified.error().to_string();
}

class WorkloadAtLevels : public testing::TestWithParam<collect::WorkloadInfo> {};

TEST_P(WorkloadAtLevels, IsNeverRejected) {
  Decided unique, repeated;
  for (const LevelId level : kLevels)
    for (const uint64_t txns : {10, 100, 1000}) {
      expect_never(Outcome::violated, options_of(GetParam().name, level, txns, 0), unique);
      expect_never(Outcome::violated, options_of(GetParam().name, level, txns, 5), repeated);
    }
  if (GetParam().single_operations)
    expect_never(Outcome::violated, options_of(GetParam().name, LevelId::linearizable, 1000, 0),
                 unique);
  unique.print("each value once");
  repeated.print("five values a key");
}

TEST(TenThousandTransactions, AreNeverRejected) {
  Decided decided;
  for (const std::string_view workload : {"v-range-b", "list-append", "lwt", "general"})
    for (const LevelId level : {LevelId::session_si, LevelId::read_committed})
      expect_never(Outcome::violated, options_of(workload, level, 10'000, 0), decided);
  decided.print("10,000 transactions");
}

// Deletions leave their names, so that nothing is open about ranges and absences.
TEST(Tombstones, LeaveNothingToChooseFrom) {
  Decided sound, faulty;
  for (const std::string_view workload : {"v-range-b", "v-range-rqh", "v-range-idh", "tpcc"})
    for (const LevelId level : kLevels) {
      GenerateOptions options = options_of(workload, level, 1000, 0);
      options.workload_options.tombstones = true;
      expect_never(Outcome::violated, options, sound);
      options.bug = Anomaly::aborted_read;
      expect_never(Outcome::satisfied, options, faulty);
    }
  sound.print("sound");
  faulty.print("with an aborted read");
  EXPECT_EQ(sound.decided, sound.verdicts);
  EXPECT_EQ(faulty.decided, faulty.verdicts);
}

TEST_P(WorkloadAtLevels, EveryBugIsFound) {
  Decided unique, repeated;
  for (const Anomaly bug : collect::all_bugs()) {
    if (!can_show(GetParam(), bug)) continue;
    for (const uint64_t values : {0, 5})
      for (const LevelId level : {LevelId::read_committed, LevelId::strict_serializable}) {
        if (!collect::forbids(level, bug)) continue;
        GenerateOptions options = options_of(GetParam().name, level, 100, values);
        options.bug = bug;
        expect_never(Outcome::satisfied, options, values == 0 ? unique : repeated);
      }
  }
  unique.print("each value once");
  repeated.print("five values a key");
}

INSTANTIATE_TEST_SUITE_P(Workloads, WorkloadAtLevels, testing::ValuesIn(collect::all_workloads()),
                         [](const auto& param) { return test_name(param.param.name); });

}  // namespace
}  // namespace assay::internal
