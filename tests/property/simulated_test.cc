// The simulated database gives the level it claims, and each of its bugs breaks exactly the levels
// that forbid the anomaly. The oracle judges, so the histories are small.
#include "simulated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "cases.h"
#include "collect/simulated/policy.h"
#include "collect/simulated/simulation.h"
#include "oracle/oracle.h"
#include "oracle/selftest.h"

namespace assay::internal {
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

class SimulatedLevel : public testing::TestWithParam<LevelInfo> {};

// And one of those that are decided on request.
std::vector<LevelInfo> simulated_levels() {
  std::vector<LevelInfo> levels(default_levels().begin(), default_levels().end());
  levels.push_back(level_info(LevelId::statement_snapshot));
  return levels;
}

// The oracle's answers for every level; nothing if the history is too large for it.
std::optional<oracle::Verdicts> judge(const History& history) {
  oracle::Verdicts verdicts = oracle::decide_all(history, simulated_levels());
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
    for (const LevelInfo& info : simulated_levels()) {
      const Outcome outcome = (*verdicts)[static_cast<size_t>(info.id)];
      violated[static_cast<size_t>(info.id)] += outcome == Outcome::violated;
      if (implies(level, info.id)) {
        ASSERT_EQ(outcome_name(outcome), "satisfied") << info.name << " seed " << seed;
      }
    }
  }
  EXPECT_GE(judged, 200);
  // Contended as they are, some histories show what the level allows and a stronger one does not.
  for (const LevelInfo& info : simulated_levels()) {
    if (info.id == LevelId::linearizable || info.id == level || !implies(info.id, level)) continue;
    EXPECT_GT(violated[static_cast<size_t>(info.id)], 0) << "never violates " << info.name;
  }
}

// Small enough for the oracle whatever the workload does: where sources are open it tries them all.
GenerateOptions options_of(const collect::WorkloadInfo& workload, LevelId level, uint64_t seed) {
  GenerateOptions options = small_options(level, seed);
  options.workload = workload.name;
  options.txns = 7 / options.sessions;
  options.workload_options.keys = 2 + seed % 3;
  options.workload_options.ops = static_cast<uint32_t>(1 + seed % 3);
  const bool long_transactions = workload.name == "tpcc";
  options.workload_options.values = seed % 3 == 0 && !long_transactions ? 1 + seed % 4 : 0;
  options.unknown_share = seed % 2 == 0 ? 0.1 : 0;
  return options;
}

class SimulatedWorkload : public testing::TestWithParam<collect::WorkloadInfo> {};

TEST_P(SimulatedWorkload, GivesEveryLevel) {
  uint64_t judged = 0, made = 0;
  for (const LevelInfo& level : simulated_levels()) {
    if (!can_be_made_at(GetParam(), level.id)) continue;
    for (uint64_t seed = 1; seed <= scaled(200, 10); ++seed) {
      const oracle::Verdicts verdicts =
          oracle::decide_all(make(options_of(GetParam(), level.id, seed)), simulated_levels());
      for (const LevelInfo& info : simulated_levels()) {
        if (!implies(level.id, info.id)) continue;
        const Outcome outcome = verdicts[static_cast<size_t>(info.id)];
        ++made;
        judged += outcome != Outcome::unknown;
        ASSERT_NE(outcome_name(outcome), "violated")
            << info.name << " made at " << level.name << ", seed " << seed;
      }
    }
  }
  RecordProperty("judged", std::to_string(judged));
  // The rows of TPC-C and RUBiS are more keys than the oracle takes.
  const bool many_keys = GetParam().name == "tpcc" || GetParam().name == "rubis";
  EXPECT_GE(judged, many_keys ? 0 : made * 9 / 10);
}

// Every kind of operation in one transaction, on registers 0, 1, … and the list "l".
class EverythingSession : public collect::WorkloadSession {
 public:
  EverythingSession(Rng rng, collect::WrittenValues values) : rng_(rng), values_(values) {}
  void start(bool) override { left_ = 3; }
  bool next(const collect::Reply*, collect::Request& request) override {
    if (left_-- == 0) return false;
    const auto key = [&] { return Value::of(static_cast<int64_t>(rng_.below(3))); };
    request = {.kind = kKinds[rng_.below(std::size(kKinds))], .key = key()};
    switch (request.kind) {
      case OpKind::append:
        request.value = values_.take();
        [[fallthrough]];
      case OpKind::read_list:
        request.key = Value::of(std::string("l"));
        break;
      case OpKind::range:
        request.high = key();
        break;
      case OpKind::remove:
        // A removal's own name, which no comparison expects.
        request.value = Value::of(-values_.take_unique().integer);
        break;
      case OpKind::cas:
        request.expected = rng_.chance(0.5) ? Value() : Value::of(int64_t{1});
        [[fallthrough]];
      default:
        if (request.kind != OpKind::read) request.value = values_.take();
    }
    return true;
  }
  static constexpr OpKind kKinds[] = {OpKind::read,   OpKind::write,     OpKind::remove,
                                      OpKind::append, OpKind::read_list, OpKind::range,
                                      OpKind::range,  OpKind::cas,       OpKind::insert};

 private:
  Rng rng_;
  collect::WrittenValues values_;
  int left_ = 0;
};

class Everything : public collect::Workload {
 public:
  explicit Everything(uint64_t values) : values_(values) {}
  std::unique_ptr<collect::WorkloadSession> open(uint32_t session, uint32_t sessions,
                                                 uint64_t seed) const override {
    return std::make_unique<EverythingSession>(Rng(rotated(seed)).split(session),
                                               collect::WrittenValues(session, sessions, values_));
  }
  std::span<const OpKind> kinds() const override { return EverythingSession::kKinds; }
  std::vector<collect::Request> final_reads(uint64_t, Rng&) const override { return {}; }

 private:
  uint64_t values_;
};

TEST_P(SimulatedLevel, HoldsWithEveryOperationInATransaction) {
  const LevelId level = GetParam().id;
  if (level == LevelId::linearizable) GTEST_SKIP() << "single operations only";
  uint64_t judged = 0, made = 0;
  for (uint64_t seed = 1; seed <= scaled(2000, 20); ++seed) {
    GenerateOptions options = small_options(level, seed);
    options.txns = 7 / options.sessions;
    options.unknown_share = seed % 2 == 0 ? 0.1 : 0;
    collect::HistorySink sink;
    ASSERT_TRUE(collect::Simulation(options, Everything(seed % 2 == 0 ? 2 : 0), sink).run().ok());
    const auto history = sink.take();
    ASSERT_TRUE(history.ok());
    const oracle::Verdicts verdicts = oracle::decide_all(*history);
    for (const LevelInfo& info : default_levels()) {
      if (!implies(level, info.id)) continue;
      const Outcome outcome = verdicts[static_cast<size_t>(info.id)];
      ++made;
      judged += outcome != Outcome::unknown;
      ASSERT_NE(outcome_name(outcome), "violated") << info.name << ", seed " << seed;
    }
  }
  EXPECT_GE(judged, made * 9 / 10);
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
          bug != Anomaly::lost_update && bug != Anomaly::real_time_violation)
        continue;
      result.push_back({level.id, bug});
    }
  }
  return result;
}

class SimulatedBug : public testing::TestWithParam<Bug> {};

// How many of 20 histories the oracle could judge.
int broken_exactly(const Bug& planted, std::string_view workload, bool repeating) {
  const auto [level, bug] = planted;
  int judged = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    GenerateOptions options = small_options(level, seed);
    options.sessions = 4;
    options.txns = 2;
    if (!workload.empty()) {
      // The oracle tries every source of a value or null with several.
      options.workload = workload;
      options.workload_options.values = repeating ? 2 : 0;
      options.workload_options.ops = 2;
      options.txns = 1;
      options.unknown_share = 0;
    }
    options.bug = bug;
    const auto verdicts = judge(make(options));
    if (!verdicts) continue;
    ++judged;
    for (const LevelInfo& info : default_levels()) {
      if (!implies(level, info.id)) continue;
      const Outcome expected =
          collect::forbids(info.id, bug) ? Outcome::violated : Outcome::satisfied;
      EXPECT_EQ(outcome_name((*verdicts)[static_cast<size_t>(info.id)]), outcome_name(expected))
          << info.name << ", " << options.workload << ", seed " << seed;
    }
    if (testing::Test::HasFailure()) break;
  }
  return judged;
}

TEST_P(SimulatedBug, BreaksExactlyWhatForbidsIt) {
  const std::string_view workload = collect::workload_for(GetParam().bug);
  EXPECT_GE(broken_exactly(GetParam(), workload == "general" ? "" : workload, false), 10);
}

TEST_P(SimulatedBug, BreaksItWhateverTheOperations) {
  if (collect::workload_for(GetParam().bug) != "general")
    GTEST_SKIP() << "only queries by condition show it";
  EXPECT_GE(broken_exactly(GetParam(), "general", true), 10);
  for (const std::string_view name : {"list-append", "lwt", "v-range-b", "v-range-idh"}) {
    const auto [level, bug] = GetParam();
    if (!can_be_made_at(*collect::find_workload(name), level)) continue;
    // Two compare-and-sets of one value, where a transaction is one operation.
    if (level == LevelId::linearizable && bug == Anomaly::lost_update && name == "list-append")
      continue;
    EXPECT_GE(broken_exactly(GetParam(), name, false), 10) << name;
  }
}

std::string name_of_level(const testing::TestParamInfo<LevelInfo>& param) {
  return test_name(param.param.name);
}
std::string bug_name(const testing::TestParamInfo<Bug>& param) {
  return test_name(level_info(param.param.level).name) + "_" +
         test_name(anomaly_info(param.param.bug).name);
}

INSTANTIATE_TEST_SUITE_P(Levels, SimulatedLevel, testing::ValuesIn(simulated_levels()),
                         name_of_level);
std::string workload_name(const testing::TestParamInfo<collect::WorkloadInfo>& param) {
  return test_name(param.param.name);
}

INSTANTIATE_TEST_SUITE_P(Workloads, SimulatedWorkload, testing::ValuesIn(collect::all_workloads()),
                         workload_name);
INSTANTIATE_TEST_SUITE_P(Bugs, SimulatedBug, testing::ValuesIn(bugs_by_level()), bug_name);

}  // namespace
}  // namespace assay::internal
