#include "collect/arms.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "collect/workloads/registry.h"

namespace assay::internal::collect {
namespace {

constexpr double kSecondsOfARun = 0.5;

std::vector<Arm> arms_of(std::vector<double> rates) {
  std::vector<Arm> arms;
  for (size_t i = 0; i < rates.size(); ++i)
    arms.push_back({kWorkloads[i], Contention::hot, rates[i], static_cast<uint32_t>(i)});
  return arms;
}

// How often each arm is run in so many turns that find nothing, where an arm commits so many
// contended transactions a run.
std::vector<int> turns_of(const std::vector<double>& rates, const std::vector<uint64_t>& contended,
                          uint64_t turns) {
  Arms arms(arms_of(rates));
  std::vector<int> count(rates.size());
  for (uint64_t turn = 0; turn < turns; ++turn) {
    const size_t arm = arms.next(turn);
    ++count[arm];
    arms.note(arm, {kSecondsOfARun, contended[arm]});
  }
  return count;
}

TEST(Arms, BeginWithTheLargestPriorAndGoOnInItsOrder) {
  Arms arms(arms_of({0.1, 1, 0.6}));
  EXPECT_EQ(arms.next(0), 1u);
  arms.note(1, {kSecondsOfARun, 0});
  EXPECT_EQ(arms.next(1), 2u);
}

TEST(Arms, ThePriorIsForgottenWhereItFindsNothing) {
  Arms arms(arms_of({10, 0.1}));
  arms.note(0, {20, 0});
  EXPECT_EQ(arms.next(1), 1u);
}

TEST(Arms, OneWhoseTransactionsMeetIsRunMoreOften) {
  const std::vector<int> turns = turns_of({1, 1, 1, 1}, {10, 10, 1000, 10}, 200);
  for (const size_t other : {0, 1, 3}) EXPECT_GT(turns[2], 1.5 * turns[other]);
}

TEST(Arms, NoneStarves) {
  const std::vector<int> turns = turns_of({100, 1, 1e-9, 1e-9}, {1000, 1000, 0, 0}, 400);
  for (const int count : turns) EXPECT_GE(count, 10);
}

TEST(Arms, TheTimeOfAnArmCountsForThoseOfTheSameWorkload) {
  Arms arms({{kWorkloads[0], Contention::hot, 1, 0},
             {kWorkloads[0], Contention::warm, 0.9, 0},
             {kWorkloads[1], Contention::hot, 0.8, 1}});
  arms.note(0, {2, 0});
  EXPECT_EQ(arms.next(1), 2u);
}

TEST(Arms, OtherKindsOfOperationHaveTheirTurnBeforeMoreOfTheSame) {
  constexpr uint32_t kRegisters = 1, kLists = 2;
  Arms arms({{kWorkloads[0], Contention::hot, 1, kRegisters},
             {kWorkloads[1], Contention::hot, 0.95, kRegisters},
             {kWorkloads[2], Contention::hot, 0.9, kLists}});
  arms.note(0, {2, 0});
  EXPECT_EQ(arms.next(1), 2u);
}

TEST(Arms, RunsOfEqualPriorsAreSharedEvenly) {
  for (const int count : turns_of({1, 1, 1, 1}, {5, 5, 5, 5}, 80)) EXPECT_NEAR(count, 20, 3);
}

// A database with a fault that one arm finds, the prior knows not which: the seconds until then, in
// the mean of many.
TEST(Arms, FindAFaultThatThePriorPointsToSooner) {
  const auto seconds_until_found = [](std::vector<double> rates, size_t paying) {
    double sum = 0;
    Rng rng(3);
    for (int trial = 0; trial < 200; ++trial) {
      Arms arms(arms_of(rates));
      for (uint64_t turn = 0;; ++turn) {
        const size_t arm = arms.next(turn);
        sum += kSecondsOfARun;
        if (arm == paying && rng.chance(1 - std::exp(-kSecondsOfARun))) break;
        arms.note(arm, {kSecondsOfARun, 1});
      }
    }
    return sum / 200;
  };
  const std::vector<double> even(12, 0.5);
  std::vector<double> right = even, wrong = even;
  right[7] = 2;
  wrong[7] = 0.01;
  EXPECT_LT(seconds_until_found(right, 7), 0.7 * seconds_until_found(even, 7));
  // Wrong costs time, but finds it.
  EXPECT_LT(seconds_until_found(wrong, 7), 10 * seconds_until_found(even, 7));
}

TEST(WorkloadPriors, AreOfTheClassThatTheStrongestLevelForbids) {
  using enum LevelId;
  EXPECT_EQ(fault_class(read_committed), FaultClass::weak_reads);
  EXPECT_EQ(fault_class(causal), FaultClass::weak_reads);
  EXPECT_EQ(fault_class(session_si), FaultClass::lost_update);
  EXPECT_EQ(fault_class(strong_si), FaultClass::lost_update);
  EXPECT_EQ(fault_class(serializable), FaultClass::write_skew);
  EXPECT_EQ(fault_class(strict_serializable), FaultClass::write_skew);
  EXPECT_EQ(fault_class(pl_3), FaultClass::write_skew);
  EXPECT_EQ(fault_class(mixed), FaultClass::write_skew);
  EXPECT_EQ(fault_class(linearizable), FaultClass::stale_read);
  EXPECT_EQ(fault_class(std::vector{session_si, serializable}), FaultClass::write_skew);
  EXPECT_EQ(fault_class(std::vector{linearizable, session_si}), FaultClass::lost_update);
}

TEST(WorkloadPriors, AreOfEveryWorkloadAndLessWhereThereIsLessContention) {
  for (const WorkloadInfo& workload : all_workloads())
    for (const FaultClass fault : {FaultClass::weak_reads, FaultClass::lost_update,
                                   FaultClass::write_skew, FaultClass::stale_read}) {
      double last = 1e9;
      for (const Contention contention : kContentions) {
        const double rate = prior_rate(workload, contention, fault);
        EXPECT_GT(rate, 0);
        EXPECT_LT(rate, last);
        last = rate;
      }
    }
}

}  // namespace
}  // namespace assay::internal::collect
