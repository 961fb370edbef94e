// Two engines that share nothing but the reads-from relation say the same of histories that are too
// large for the oracle: hundreds of transactions in a few sessions, of databases of every level,
// some with a bug.
#include <gtest/gtest.h>

#include "assay/verify.h"
#include "cases.h"
#include "collect/generate.h"
#include "collect/simulated/policy.h"
#include "history/copy.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

using collect::GenerateOptions;
using enum LevelId;

// Blind writes over few keys leave much open; the level is often just below what is asked.
GenerateOptions middling(uint64_t seed) {
  constexpr LevelId kLevels[] = {
      causal,    prefix,       session_si,           strong_session_si,
      strong_si, serializable, session_serializable, strict_serializable};
  Rng rng(rotated(seed));
  GenerateOptions options;
  options.seed = seed;
  options.level = kLevels[rng.below(std::size(kLevels))];
  options.sessions = static_cast<uint32_t>(rng.between(3, 6));
  options.txns = static_cast<uint64_t>(rng.between(15, 60));
  options.workload_options.ops = static_cast<uint32_t>(rng.between(2, 8));
  options.workload_options.keys = static_cast<uint64_t>(rng.between(10, 200));
  options.workload_options.read_share = 0.3 + 0.5 * rng.unit();
  options.times = rng.chance(0.5) ? collect::Times::none : collect::Times::intervals;
  options.unknown_share = 0.02;
  return options;
}

// Of one engine on one history: half a second or so.
constexpr uint64_t kEffortOfAnEngine = 3'000'000;

CheckResult checked_by(EngineId engine, const History& history) {
  CheckOptions options;
  options.levels = {prefix, session_si, strong_session_si, session_serializable,
                    strict_serializable};
  options.engine = engine;
  options.budget = Budget(0, 0, kEffortOfAnEngine);
  CheckResult result = decide_levels(history, options);
  for (const Certificate& certificate : result.certificates) {
    const Status verified = verify(certificate, history);
    EXPECT_TRUE(verified.ok()) << verified.error().to_string();
  }
  return result;
}

TEST(EngineAgreement, middlingHistories) {
  uint64_t decided = 0, satisfied = 0, undecided = 0;
  for (uint64_t seed = 1; seed <= scaled(250); ++seed) {
    const GenerateOptions options = middling(seed);
    collect::HistorySink sink;
    ASSERT_TRUE(collect::generate(options, sink).ok());
    const auto history = sink.take();
    ASSERT_TRUE(history.ok());
    const CheckResult graph = checked_by(EngineId::graph, *history);
    const CheckResult prefixes = checked_by(EngineId::dbcop, *history);
    for (size_t i = 0; i < graph.verdicts.size(); ++i) {
      const Verdict& a = graph.verdicts[i];
      const Verdict& b = prefixes.verdicts[i];
      const bool needs_times = level_info(a.level).real_time != RealTime::none;
      if (needs_times && a.outcome == Outcome::unknown && !history->fully_timed()) continue;
      for (const Verdict& v : {a, b})
        EXPECT_FALSE(v.outcome == Outcome::unknown && v.cause == UnknownCause::internal)
            << v.reason << ", seed " << seed;
      if (a.outcome == Outcome::unknown || b.outcome == Outcome::unknown) {
        ++undecided;
        continue;
      }
      ++decided;
      satisfied += a.outcome == Outcome::satisfied;
      EXPECT_EQ(outcome_name(a.outcome), outcome_name(b.outcome))
          << level_info(a.level).name << ", seed " << seed;
    }
  }
  RecordProperty("decided", std::to_string(decided));
  RecordProperty("undecided", std::to_string(undecided));
  if (decided + undecided < 200) return;  // too few to say what share of them should be what
  EXPECT_GT(satisfied, decided / 10);
  EXPECT_LT(satisfied, decided - decided / 10);
  EXPECT_LT(undecided, decided / 10);
}

// One session after the other, so that the order of the file says nothing of the order of time.
History by_sessions(const History& history) {
  HistoryBuilder builder;
  builder.set_initial(history.initial());
  TxnCopier copier(builder);
  for (SessionId s = 0; s < history.session_count(); ++s) {
    for (TxnId t = 0; t < history.txn_count(); ++t) {
      if (history.session(t) != s) continue;
      copier.begin(history, t);
      for (OpId i = history.first_op(t); i < history.end_op(t); ++i) copier.operation(history, i);
      EXPECT_TRUE(builder.end_txn().ok());
    }
  }
  auto finished = std::move(builder).finish();
  EXPECT_TRUE(finished.ok());
  return std::move(*finished);
}

// Of effort: several times what any of them takes.
constexpr uint64_t kPlentyOfEffort = 20'000'000;

// The default load of PolySI's evaluation, on which dbcop took a minute with 10 sessions and two
// with 15.
TEST(PrefixEngine, DecidesManySessionsThatShareLittle) {
  for (const LevelId level : {session_si, session_serializable}) {
    for (const uint32_t sessions : {10u, 15u}) {
      GenerateOptions options;
      options.level = level;
      options.sessions = sessions;
      options.txns = 100;
      options.workload_options.ops = 15;
      options.workload_options.keys = 10'000;
      options.times = collect::Times::none;
      for (options.seed = 1; options.seed <= scaled(3); ++options.seed) {
        collect::HistorySink sink;
        ASSERT_TRUE(collect::generate(options, sink).ok());
        const auto history = sink.take();
        ASSERT_TRUE(history.ok());
        CheckOptions checking;
        checking.levels = {level};
        checking.engine = EngineId::dbcop;
        checking.budget = Budget(0, 0, kPlentyOfEffort);
        EXPECT_EQ(decide_levels(by_sessions(*history), checking).verdicts.at(0).outcome,
                  Outcome::satisfied)
            << level_info(level).name << ", " << sessions << " sessions, seed " << options.seed;
      }
    }
  }
}

}  // namespace
}  // namespace assay::internal
