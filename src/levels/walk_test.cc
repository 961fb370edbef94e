#include "levels/walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "history/test_history.h"
#include "levels/proof_shape.h"
#include "oracle/random_history.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;
using sample::kCommitted;

// What must hold of every result: verdicts and certificates point at each other.
CheckResult checked(const History& history, const CheckOptions& options = {}) {
  CheckResult result = decide_levels(history, options);
  for (const Verdict& v : result.verdicts) {
    EXPECT_EQ(result.find(v.level)->level, v.level);
    EXPECT_EQ(v.certificate == kNone, v.outcome == Outcome::unknown);
    EXPECT_EQ(v.reason.empty(), v.outcome != Outcome::unknown) << level_info(v.level).name;
    EXPECT_TRUE(v.outcome != Outcome::unknown || v.cause != UnknownCause::internal) << v.reason;
    if (v.certificate == kNone) continue;
    const Certificate& c = result.certificates.at(v.certificate);
    EXPECT_EQ(c.outcome(), v.outcome);
    EXPECT_EQ(std::count(c.levels.begin(), c.levels.end(), v.level), 1);
    if (c.kind == Certificate::Kind::proof) sample::expect_proof_shape(c.proof);
  }
  return result;
}

CheckResult checked(const std::vector<sample::Txn>& txns, const CheckOptions& options = {}) {
  return checked(make_history(txns), options);
}

std::set<LevelId> levels_with(const CheckResult& result, Outcome outcome) {
  std::set<LevelId> levels;
  for (const Verdict& v : result.verdicts) {
    if (v.outcome == outcome) levels.insert(v.level);
  }
  return levels;
}

std::set<LevelId> weaker_than(LevelId level) {
  std::set<LevelId> levels;
  for (const LevelInfo& other : default_levels()) {
    if (implies(level, other.id)) levels.insert(other.id);
  }
  return levels;
}

const std::vector<sample::Txn> kSerial = {{1, {w("x", 1), w("y", 1)}, kCommitted, 10, 20},
                                          {2, {r("x", 1), w("x", 2)}, kCommitted, 30, 40},
                                          {1, {r("x", 2)}, kCommitted, 50, 60}};
const std::vector<sample::Txn> kLostUpdate = {{1, {r("x", kNull), w("x", 1)}},
                                              {2, {r("x", kNull), w("x", 2)}}};

TEST(Check, EveryLevelGetsItsVerdictInOrder) {
  const CheckResult result = checked(kSerial);
  ASSERT_EQ(result.verdicts.size(), default_levels().size());
  for (size_t i = 0; i < default_levels().size(); ++i)
    EXPECT_EQ(result.verdicts[i].level, default_levels()[i].id);
  EXPECT_EQ(levels_with(result, Outcome::unknown), (std::set<LevelId>{linearizable}));
  EXPECT_TRUE(levels_with(result, Outcome::violated).empty());
  EXPECT_FALSE(result.stages.empty());
}

TEST(Check, AnEmptyHistorySatisfiesEverything) {
  const CheckResult result = checked(std::vector<sample::Txn>{});
  EXPECT_EQ(levels_with(result, Outcome::satisfied).size(), default_levels().size());
}

// Strict serializability does not imply strong snapshot isolation: two orders, then.
TEST(Check, TwoOrdersServeTheWholeLattice) {
  const CheckResult result = checked({{1, {w("x", 1)}, kCommitted, 1, 2}});
  EXPECT_EQ(levels_with(result, Outcome::satisfied).size(), default_levels().size());
  EXPECT_FALSE(implies(strict_serializable, strong_si));
  EXPECT_EQ(result.certificates.size(), 2u);
}

TEST(Check, WithoutCarryEveryLevelHasItsOwnReason) {
  CheckOptions options;
  options.speed_ups.set(SpeedUp::carry, false);
  const CheckResult result = checked(kSerial, options);
  EXPECT_EQ(levels_with(result, Outcome::satisfied).size(), default_levels().size() - 1u);
  EXPECT_EQ(result.certificates.size(), default_levels().size() - 1u);
  for (const Certificate& c : result.certificates) EXPECT_EQ(c.levels.size(), 1u);
}

TEST(Check, ARefutationServesTheStrongerLevels) {
  const CheckResult result = checked(kLostUpdate);
  const std::set<LevelId> satisfied = levels_with(result, Outcome::satisfied);
  EXPECT_EQ(satisfied, weaker_than(prefix));
  EXPECT_EQ(result.find(linearizable)->outcome, Outcome::unknown);
  const Verdict* si = result.find(session_si);
  ASSERT_EQ(si->outcome, Outcome::violated);
  // It needs no session order and no time, so it refutes the whole family.
  EXPECT_EQ(result.find(adya_si)->certificate, si->certificate);
  EXPECT_EQ(result.find(strong_si)->certificate, si->certificate);
}

TEST(Check, ARefutationBySessionOrderSparesTheLevelsWithoutIt) {
  CheckOptions options;
  options.levels = {adya_si, session_si, serializable, session_serializable};
  options.speed_ups.set(SpeedUp::replay, false);  // it would accept them before anything is refuted
  const CheckResult result = checked({{1, {w("x", 1)}}, {1, {r("x", kNull)}}}, options);
  EXPECT_EQ(levels_with(result, Outcome::satisfied), (std::set<LevelId>{adya_si, serializable}));
  EXPECT_EQ(result.find(session_si)->outcome, Outcome::violated);
  EXPECT_EQ(result.find(session_serializable)->outcome, Outcome::violated);
}

// That there is an order of events says nothing of the order in which versions were installed, as
// Adya's levels ask.
TEST(Check, AnOrderOfEventsIsNoOrderOfVersions) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {r("x", 1)}}};
  CheckOptions options;
  options.levels = {serializable, pl_3};
  const CheckResult open = checked(make_history(txns), options);
  EXPECT_EQ(open.find(serializable)->outcome, Outcome::satisfied);
  EXPECT_EQ(open.find(pl_3)->outcome, Outcome::unknown);
  const CheckResult stated = checked(make_history(txns, {{"x", {1, 2}}}), options);
  EXPECT_EQ(stated.find(pl_3)->outcome, Outcome::satisfied);
}

TEST(Check, OnlyTheLevelsAskedForAreReported) {
  CheckOptions options;
  options.levels = {session_si, read_committed};
  const CheckResult result = checked(kLostUpdate, options);
  ASSERT_EQ(result.verdicts.size(), 2u);
  EXPECT_EQ(result.verdicts[0].level, read_committed);
  EXPECT_EQ(result.verdicts[0].outcome, Outcome::satisfied);
  EXPECT_EQ(result.verdicts[1].outcome, Outcome::violated);
  EXPECT_EQ(result.find(serializable), nullptr);
}

TEST(Check, ABadReadRefutesEveryLevelAtOnce) {
  const CheckResult result = checked({{1, {w("x", 1)}, TxnStatus::aborted}, {2, {r("x", 1)}}});
  ASSERT_EQ(result.certificates.size(), 1u);
  EXPECT_EQ(result.certificates[0].kind, Certificate::Kind::bad_read);
  EXPECT_EQ(result.certificates[0].bad_read.anomaly, Anomaly::aborted_read);
  EXPECT_TRUE(levels_with(result, Outcome::satisfied).empty());
}

TEST(Check, ANonRepeatableReadSparesReadCommitted) {
  const CheckResult result = checked({{1, {w("x", 1)}}, {2, {r("x", kNull), r("x", 1)}}});
  EXPECT_EQ(levels_with(result, Outcome::satisfied), (std::set<LevelId>{read_committed}));
  EXPECT_EQ(result.find(serializable)->outcome, Outcome::violated);
}

TEST(Check, WithoutABudgetEverythingIsUnknownAndSaysWhy) {
  CheckOptions options;
  options.budget = Budget(0, 1);
  const CheckResult result = checked(kSerial, options);
  EXPECT_EQ(levels_with(result, Outcome::unknown).size(), default_levels().size());
  EXPECT_NE(result.find(serializable)->reason.find("memory limit"), std::string::npos);
  EXPECT_EQ(result.find(serializable)->cause, UnknownCause::memory);
}

TEST(Check, WithoutTimesRealTimeLevelsStayOpenUnlessRefutedAnyway) {
  const CheckResult open = checked({{1, {w("x", 1)}}, {2, {r("x", 1)}}});
  std::set<LevelId> timed;
  for (const LevelInfo& level : default_levels())
    if (level.real_time != RealTime::none) timed.insert(level.id);
  EXPECT_EQ(levels_with(open, Outcome::unknown), timed);
  EXPECT_NE(open.find(strict_serializable)->reason.find("begin and end times"), std::string::npos);
  EXPECT_EQ(checked(kLostUpdate).find(strict_serializable)->outcome, Outcome::violated);
  CheckOptions alone;
  alone.levels = {strict_serializable};
  EXPECT_EQ(checked(kLostUpdate, alone).find(strict_serializable)->outcome, Outcome::violated);
}

TEST(Check, WhatCannotApplyIsSaidBeforeAnythingIsSearched) {
  CheckOptions options;
  options.budget = Budget(0, 0, 40);  // enough to match
  const CheckResult result = checked({{1, {w("x", 1), w("y", 1)}}, {2, {r("x", 1)}}}, options);
  EXPECT_EQ(result.find(strong_si)->cause, UnknownCause::lacks_times);
  EXPECT_EQ(result.find(strict_serializable)->cause, UnknownCause::lacks_times);
  EXPECT_EQ(result.find(linearizable)->cause, UnknownCause::not_applicable);
}

TEST(Check, AnUnknownNamesItsCause) {
  const auto cause = [](const History& history, LevelId level) {
    CheckOptions options;
    options.levels = {level};
    const CheckResult result = checked(history, options);
    EXPECT_EQ(result.verdicts.at(0).outcome, Outcome::unknown);
    return result.verdicts.at(0).cause;
  };
  const std::vector<sample::Txn> blind = {{1, {w("x", 1)}}, {2, {w("x", 2)}}};
  const std::vector<sample::Txn> read = {
      {1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {r("x", 1)}}, {4, {r("x", 2)}}};
  EXPECT_EQ(cause(make_history(read), pl_3), UnknownCause::lacks_order);
  EXPECT_EQ(cause(make_history(blind), strict_serializable), UnknownCause::lacks_times);
  EXPECT_EQ(cause(make_history(kSerial), linearizable), UnknownCause::not_applicable);
}

TEST(Check, StatedVersionOrdersBindWeakAndStrongLevels) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}};
  EXPECT_TRUE(levels_with(checked(make_history(txns, {{"x", {1, 2}}})), Outcome::violated).empty());
  const CheckResult reversed = checked(make_history(txns, {{"x", {2, 1}}}));
  EXPECT_TRUE(levels_with(reversed, Outcome::satisfied).empty());
  EXPECT_EQ(reversed.find(read_committed)->outcome, Outcome::violated);
  EXPECT_EQ(reversed.find(serializable)->outcome, Outcome::violated);
}

TEST(Check, WhoWroteADuplicateValueIsPartOfTheSearch) {
  const CheckResult either = checked({{1, {w("x", 1)}}, {2, {w("x", 1)}}, {3, {r("x", 1)}}});
  EXPECT_EQ(either.find(session_serializable)->outcome, Outcome::satisfied);
  ASSERT_EQ(either.duplicates.size(), 1u);
  EXPECT_TRUE(either.duplicates[0].read);
  // Whoever x is from, y of the same transaction was not seen.
  const CheckResult neither = checked(
      {{1, {w("x", 1), w("y", 1)}}, {2, {w("x", 1), w("y", 2)}}, {3, {r("y", kNull), r("x", 1)}}});
  EXPECT_EQ(neither.find(read_committed)->outcome, Outcome::satisfied);
  const Verdict& atomic = *neither.find(read_atomic);
  EXPECT_EQ(atomic.outcome, Outcome::violated);
  const std::vector<ProofStep>& steps = neither.certificates[atomic.certificate].proof.steps;
  const auto one_of = std::find_if(steps.begin(), steps.end(), [](const ProofStep& step) {
    return step.kind == ProofStep::Kind::sources;
  });
  ASSERT_NE(one_of, steps.end());
  EXPECT_EQ(one_of->clause.size(), 2u);
}

// The reader has one operation, but seen more keys than operations.
TEST(Check, OneRangeMaySeeManyKeysOfSeveralPossibleWriters) {
  constexpr int64_t kKeys = 40;
  HistoryBuilder builder;
  std::vector<std::pair<ValueView, ValueView>> rows;
  for (int64_t session = 1; session <= 2; ++session) {
    builder.begin_txn({.session = ValueView::of(session), .status = kCommitted});
    for (int64_t key = 0; key < kKeys; ++key)
      builder.add(Op::write(ValueView::of(key), ValueView::of(int64_t{7})));
    ASSERT_TRUE(builder.end_txn().ok());
  }
  for (int64_t key = 0; key < kKeys; ++key)
    rows.emplace_back(ValueView::of(key), ValueView::of(int64_t{7}));
  builder.begin_txn({.session = ValueView::of(int64_t{3}), .status = kCommitted});
  builder.add(Op::range(ValueView(), ValueView(), rows));
  ASSERT_TRUE(builder.end_txn().ok());
  const auto history = std::move(builder).finish();
  ASSERT_TRUE(history.ok());
  const CheckResult result = checked(*history);
  EXPECT_EQ(result.find(causal)->outcome, Outcome::satisfied);
  EXPECT_EQ(result.find(session_serializable)->outcome, Outcome::satisfied);
}

// A lock that was taken more often than it was free, by whoever released it.
TEST(Check, CountingRefutesWhatTheSearchOverWritersCannot) {
  constexpr int64_t kFree = 1, kHeld = 2;
  std::vector<sample::Txn> txns = {{0, {w("lock", kFree)}}};
  for (int64_t session = 1; session <= 6; ++session) {
    txns.push_back({session, {r("lock", kFree), w("lock", kHeld)}});
    txns.push_back({session, {r("lock", kHeld), w("lock", kFree)}});
  }
  EXPECT_NE(checked(txns).find(serializable)->outcome, Outcome::violated);
  txns.push_back({7, {r("lock", kFree), w("lock", kHeld)}});
  EXPECT_NE(checked(txns).find(serializable)->outcome, Outcome::violated);
  txns.push_back({8, {r("lock", kFree), w("lock", kHeld)}});
  const CheckResult taken = checked(txns);
  for (LevelId level : {adya_si, strong_session_si, serializable, session_serializable}) {
    const Verdict& v = *taken.find(level);
    ASSERT_EQ(v.outcome, Outcome::violated) << level_info(level).name;
    EXPECT_EQ(taken.certificates[v.certificate].bad_read.anomaly, Anomaly::lost_update);
  }
  EXPECT_NE(taken.find(prefix)->outcome, Outcome::violated);
}

TEST(Check, OfElementsThatCannotBeToldApartOneCameLater) {
  HistoryBuilder builder;
  const ValueView list = ValueView::of("l"), element = ValueView::of(1);
  for (int64_t session : {1, 2, 3}) {
    builder.begin_txn({.session = ValueView::of(session)});
    if (session < 3) {
      builder.add(Op::append(list, element));
    } else {
      builder.add(Op::read_list(list, std::span(&element, 1)));
    }
    ASSERT_TRUE(builder.end_txn().ok());
  }
  const CheckResult result = checked(*std::move(builder).finish());
  EXPECT_EQ(result.find(read_committed)->outcome, Outcome::satisfied);
  EXPECT_EQ(result.find(session_serializable)->outcome, Outcome::satisfied);
}

TEST(Check, LinearizabilityIsStrictSerializabilityOfSingleOperations) {
  const auto registers = [](int64_t seen) {
    return checked({{1, {w("x", 1)}, kCommitted, 1, 2},
                    {2, {w("x", 2)}, kCommitted, 3, 4},
                    {3, {r("x", seen)}, kCommitted, 5, 6}});
  };
  EXPECT_EQ(registers(2).find(linearizable)->outcome, Outcome::satisfied);
  const CheckResult stale = registers(1);
  EXPECT_EQ(stale.find(linearizable)->outcome, Outcome::violated);
  EXPECT_EQ(stale.find(linearizable)->certificate, stale.find(strict_serializable)->certificate);
  EXPECT_EQ(stale.find(session_serializable)->outcome, Outcome::satisfied);
  EXPECT_NE(checked(kSerial).find(linearizable)->reason.find("2 operations"), std::string::npos);
  // A transaction of several operations was read in part, so it may have happened.
  const CheckResult torn = checked(
      {{1, {r("x", 1)}, kCommitted, 1, 2}, {2, {w("x", 1), w("x", 2)}, TxnStatus::unknown, 3, 4}});
  EXPECT_EQ(torn.find(strict_serializable)->outcome, Outcome::violated);
  EXPECT_NE(torn.find(linearizable)->reason.find("2 operations"), std::string::npos);
}

TEST(Check, ProgressStaysBetweenNothingAndAll) {
  CheckOptions options;
  int calls = 0;
  options.progress = [&](std::string_view stage, double done) {
    ++calls;
    EXPECT_FALSE(stage.empty());
    EXPECT_GE(done, 0);
    EXPECT_LE(done, 1);
  };
  checked(kLostUpdate, options);
  EXPECT_GT(calls, 0);
}

TEST(Check, VerdictsFollowTheLatticeAndNoSwitchChangesThem) {
  Rng rng(61);
  std::set<size_t> satisfied_counts;
  for (int round = 0; round < 80; ++round) {
    const History history = sample::random_history(rng, sample::plain(3, 6, 4, 4));
    const CheckResult plain = checked(history);
    for (const Verdict& strong : plain.verdicts) {
      for (const Verdict& weak : plain.verdicts) {
        if (strong.outcome != Outcome::satisfied || !implies(strong.level, weak.level)) continue;
        ASSERT_EQ(weak.outcome, Outcome::satisfied) << "round " << round;
      }
    }
    satisfied_counts.insert(levels_with(plain, Outcome::satisfied).size());
    for (unsigned bits = 0; bits < 256; ++bits) {
      CheckOptions options;
      unsigned bit = 1;
      for (const SpeedUp each :
           {SpeedUp::replay, SpeedUp::saturation, SpeedUp::early_search, SpeedUp::local_search,
            SpeedUp::update_facts, SpeedUp::assumed_sessions, SpeedUp::decomposition,
            SpeedUp::carry}) {
        options.speed_ups.set(each, (bits & bit) != 0);
        bit *= 2;
      }
      const CheckResult other = checked(history, options);
      for (size_t i = 0; i < plain.verdicts.size(); ++i) {
        ASSERT_EQ(other.verdicts[i].outcome, plain.verdicts[i].outcome)
            << level_info(plain.verdicts[i].level).name << ", round " << round << ", speed-ups "
            << bits;
      }
    }
  }
  EXPECT_GT(satisfied_counts.size(), 4u);
}

}  // namespace
}  // namespace assay::internal
