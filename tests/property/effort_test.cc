// A limit of effort gives the same verdicts and causes in every run and with every number of
// threads.
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "cases.h"
#include "collect/generate.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

// Blind writes over few keys, so that there is something to search.
History hard_history(uint64_t seed) {
  collect::GenerateOptions options;
  options.seed = seed;
  options.level = seed % 2 == 0 ? LevelId::session_si : LevelId::session_serializable;
  options.sessions = 8;
  options.txns = 40;
  options.workload_options.ops = 6;
  options.workload_options.keys = 60;
  options.workload_options.read_share = 0.4;
  options.times = collect::Times::none;
  collect::HistorySink sink;
  EXPECT_TRUE(collect::generate(options, sink).ok());
  return *sink.take();
}

std::vector<std::tuple<LevelId, Outcome, std::string>> verdicts(const History& history,
                                                                uint64_t effort, unsigned threads) {
  CheckOptions options;
  options.budget = Budget(0, 0, effort);
  options.threads = threads;
  std::vector<std::tuple<LevelId, Outcome, std::string>> all;
  for (const Verdict& v : decide_levels(history, options).verdicts)
    all.emplace_back(v.level, v.outcome, v.reason);
  return all;
}

TEST(Effort, TheVerdictsAreTheSameInEveryRun) {
  uint64_t decided = 0, ran_out = 0;
  for (uint64_t seed = 1; seed <= scaled(10, 3); ++seed) {
    const History history = hard_history(seed);
    for (uint64_t effort = 1000; effort < 2'000'000; effort *= 3) {
      const auto first = verdicts(history, effort, 1);
      for (const unsigned threads : {1u, 2u, 5u})
        ASSERT_EQ(verdicts(history, effort, threads), first) << "seed " << seed << ", " << effort;
      for (const auto& [level, outcome, reason] : first) {
        decided += outcome != Outcome::unknown;
        ran_out += reason.find("effort limit") != std::string::npos;
      }
    }
  }
  EXPECT_GT(decided, 0u);
  EXPECT_GT(ran_out, 0u);
}

}  // namespace
}  // namespace assay::internal
