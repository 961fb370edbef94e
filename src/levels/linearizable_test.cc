#include "levels/linearizable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/rng.h"
#include "history/test_history.h"
#include "levels/proof_shape.h"

namespace assay::internal {
namespace {

using sample::cas;
using sample::ins;
using sample::kCommitted;
using sample::kNull;
using sample::make_history;
using sample::r;
using sample::Txn;
using sample::w;

Judgement decide(const History& history, bool zones = true) {
  const Problem problem = make_problem(history);
  EXPECT_TRUE(decidable_by_key(problem));
  Stages stages;
  Budget budget;
  SpeedUps speed_ups;
  speed_ups.set(SpeedUp::zones, zones);
  Judgement v = decide_by_key(problem, speed_ups, stages, budget);
  if (v.outcome() == Outcome::violated && v.certificate.kind == Certificate::Kind::proof)
    sample::expect_proof_shape(v.certificate.proof);
  return v;
}

TEST(Linearizable, TheOrderTakesEachOperationAtItsInstant) {
  const History h = make_history({{1, {w("x", 1)}, kCommitted, 0, 9},
                                  {2, {r("x", kNull)}, kCommitted, 1, 2},
                                  {2, {r("x", 1)}, kCommitted, 3, 4},
                                  {3, {w("y", 1)}, kCommitted, 1, 2}});
  const Judgement v = decide(h);
  ASSERT_EQ(v.outcome(), Outcome::satisfied);
  EXPECT_EQ(v.certificate.kind, Certificate::Kind::order);
  const std::vector<uint32_t>& order = v.certificate.order.events;
  ASSERT_EQ(order.size(), 4u);
  const auto place = [&](TxnId t) { return std::find(order.begin(), order.end(), t); };
  EXPECT_LT(place(1), place(0));
  EXPECT_LT(place(0), place(2));
}

TEST(Linearizable, AValueThatIsReadAgainAfterAnotherIsRefuted) {
  const History h = make_history({{1, {w("x", 1)}, kCommitted, 0, 1},
                                  {2, {w("x", 2)}, kCommitted, 2, 3},
                                  {3, {r("x", 1)}, kCommitted, 4, 5}});
  const Judgement v = decide(h);
  EXPECT_EQ(v.outcome(), Outcome::violated);
  EXPECT_EQ(v.certificate.kind, Certificate::Kind::proof);
  const Judgement searched = decide(h, false);
  EXPECT_EQ(searched.outcome(), Outcome::violated);
  EXPECT_EQ(searched.certificate.kind, Certificate::Kind::exhausted);
  EXPECT_EQ(searched.certificate.exhausted.until, 2u);
}

TEST(Linearizable, ComparisonsFormChains) {
  std::vector<Txn> txns = {{1, {ins("x", 1, true)}, kCommitted, 0, 1},
                           {2, {cas("x", 1, 2, true)}, kCommitted, 0, 9},
                           {3, {cas("x", 2, 3, true)}, kCommitted, 2, 9},
                           {4, {r("x", 3)}, kCommitted, 3, 4}};
  EXPECT_EQ(decide(make_history(txns)).outcome(), Outcome::satisfied);
  txns.push_back({5, {r("x", 1)}, kCommitted, 5, 6});  // passed on before 4
  EXPECT_EQ(decide(make_history(txns)).outcome(), Outcome::violated);
  txns.back().ops = {cas("x", 2, 4, true)};  // a second one on the same value
  EXPECT_EQ(decide(make_history(txns)).outcome(), Outcome::violated);
}

TEST(Linearizable, AFailureNeedsAMomentToFail) {
  std::vector<Txn> txns = {{1, {w("x", 1)}, kCommitted, 0, 1},
                           {2, {cas("x", 1, 9, false)}, kCommitted, 2, 3},
                           {3, {r("x", 1)}, kCommitted, 4, 5}};
  const Judgement v = decide(make_history(txns));
  EXPECT_EQ(v.outcome(), Outcome::violated);
  EXPECT_EQ(v.certificate.kind, Certificate::Kind::exhausted);
  txns[2].ops = {r("x", 2)};  // something else came in between
  txns.push_back({4, {w("x", 2)}, kCommitted, 2, 9});
  EXPECT_EQ(decide(make_history(txns)).outcome(), Outcome::satisfied);
}

// Nobody read what it wrote, yet only it explains why the comparison failed.
TEST(Linearizable, AnUnknownOutcomeMayExplainAFailure) {
  const History h = make_history({{1, {w("x", 1)}, kCommitted, 0, 1},
                                  {2, {w("x", 2)}, TxnStatus::unknown, 1},
                                  {3, {cas("x", 1, 9, false)}, kCommitted, 2, 3}});
  const Judgement v = decide(h);
  ASSERT_EQ(v.outcome(), Outcome::satisfied);
  EXPECT_EQ(v.certificate.order.events, (std::vector<uint32_t>{0, 1, 2}));
}

TEST(Linearizable, RepeatedValuesAreSearched) {
  std::vector<Txn> txns = {{1, {w("x", 1)}, kCommitted, 0, 1},
                           {2, {w("x", 2)}, kCommitted, 2, 3},
                           {3, {w("x", 1)}, kCommitted, 4, 9},
                           {4, {r("x", 1)}, kCommitted, 5, 6}};
  EXPECT_EQ(decide(make_history(txns)).outcome(), Outcome::satisfied);
  txns[2].begin = 7;
  EXPECT_EQ(decide(make_history(txns)).outcome(), Outcome::violated);
}

// Of a register that was linearizable: each operation overlaps many others, and each value is
// written again and again.
std::vector<Txn> overlapping(int64_t operations, int64_t clients, int64_t values) {
  struct Effect {
    int64_t time;
    Txn txn;
  };
  Rng rng(7);
  std::vector<Effect> effects;
  std::vector<int64_t> free(static_cast<size_t>(clients), 0);  // per client: when it is
  for (int64_t i = 0; i < operations; ++i) {
    int64_t& begin = free[static_cast<size_t>(i % clients)];
    begin += 1 + static_cast<int64_t>(rng.below(100));
    const int64_t end = begin + 2 + static_cast<int64_t>(rng.below(1000));
    const int64_t time =
        begin + static_cast<int64_t>(rng.below(static_cast<uint64_t>(end - begin)));
    const auto value = static_cast<int64_t>(rng.below(static_cast<uint64_t>(values)));
    const sample::SampleOp op = rng.chance(0.5) ? r("x", kNull) : w("x", value);
    effects.push_back({time, {i % clients, {op}, kCommitted, begin, end}});
    begin = end;
  }
  std::stable_sort(effects.begin(), effects.end(),
                   [](const Effect& a, const Effect& b) { return a.time < b.time; });
  sample::Value now = kNull;
  std::vector<std::pair<int64_t, Txn>> lines;
  for (Effect& e : effects) {
    sample::SampleOp& op = e.txn.ops[0];
    if (op.kind == OpKind::read) op.value = now;
    now = op.value;
    lines.emplace_back(e.txn.begin, e.txn);
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Txn> txns;
  for (auto& line : lines) txns.push_back(std::move(line.second));
  return txns;
}

TEST(Linearizable, ManyOverlappingWritesOfFewValues) {
  for (const int64_t values : {2, 5, 20}) {
    const History h = make_history(overlapping(5000, 40, values));
    const Problem problem = make_problem(h);
    Stages stages;
    Budget budget(0, 0, 20'000'000);
    const Judgement v = decide_by_key(problem, {}, stages, budget);
    EXPECT_EQ(v.outcome(), Outcome::satisfied) << v.reason.detail;
    EXPECT_EQ(v.certificate.order.events.size(), 5000u);
  }
}

// The state that the read wants is gone when the compare-and-set may take effect.
TEST(Linearizable, WhatTheLazyOrderMissesIsSearched) {
  const History h = make_history({{1, {w("x", 1)}, kCommitted, 0, 1},
                                  {2, {w("x", 1)}, kCommitted, 0, 20},
                                  {3, {cas("x", 1, 2, true)}, kCommitted, 2, 20},
                                  {4, {cas("x", 2, 3, true)}, kCommitted, 2, 20},
                                  {5, {r("x", 3)}, kCommitted, 10, 11},
                                  {6, {r("x", 1)}, kCommitted, 12, 13}});
  EXPECT_EQ(decide(h).outcome(), Outcome::satisfied);
}

// A register with compare-and-sets, of values that are written again and again: an order that
// changes the state only where it has to leads nowhere.
std::vector<Txn> compared(int64_t operations, int64_t clients, int64_t values) {
  std::vector<Txn> txns = overlapping(operations, clients, values);
  std::vector<uint32_t> by_end(txns.size());
  std::iota(by_end.begin(), by_end.end(), 0u);
  std::stable_sort(by_end.begin(), by_end.end(), [&](uint32_t a, uint32_t b) {
    return txns[a].begin + txns[a].end < txns[b].begin + txns[b].end;
  });
  Rng rng(9);
  sample::Value now = kNull;
  for (const uint32_t i : by_end) {  // each takes effect in the middle
    sample::SampleOp& op = txns[i].ops[0];
    if (op.kind == OpKind::write && now && rng.chance(0.4))
      op = rng.chance(0.8) ? cas("x", *now, *op.value, true) : cas("x", *now + 1, *op.value, false);
    if (op.kind == OpKind::read) op.value = now;
    if (op.kind != OpKind::read && op.effect) now = op.value;
  }
  return txns;
}

TEST(Linearizable, ComparisonsAmongFewValuesAreDecidedWithFewSituations) {
  const History h = make_history(compared(5000, 40, 10));
  const Problem problem = make_problem(h);
  Stages stages;
  Budget budget(0, 0, 3'000'000);
  const Judgement v = decide_by_key(problem, {}, stages, budget);
  EXPECT_EQ(v.outcome(), Outcome::satisfied) << v.reason.detail;
  EXPECT_EQ(v.certificate.order.events.size(), 5000u);
}

TEST(Linearizable, AReadOfAValueThatNobodyLeftThenIsRefutedWhateverElseOverlaps) {
  std::vector<Txn> txns = compared(5000, 40, 10);
  constexpr int64_t kLate = 1'000'000'000;
  txns.push_back({100, {w("x", 1)}, kCommitted, kLate, kLate + 1});
  txns.push_back({100, {r("x", 2)}, kCommitted, kLate + 4, kLate + 5});
  txns.push_back({101, {w("x", 2)}, sample::kUnknown, kLate + 6});
  const Judgement v = decide(make_history(txns));
  EXPECT_EQ(v.outcome(), Outcome::violated);
  EXPECT_EQ(v.certificate.kind, Certificate::Kind::proof);
  txns.back().begin = kLate + 5;
  EXPECT_EQ(decide(make_history(txns)).outcome(), Outcome::satisfied);
}

TEST(Linearizable, AnUnknownNamesTheLongestPrefixThatWasExplained) {
  // Two compare-and-sets at the end of which one has to fail, so that all orders are gone through.
  std::vector<Txn> txns = overlapping(5000, 40, 20);
  constexpr int64_t kLate = 1'000'000'000;
  txns.push_back({100, {w("x", 1)}, kCommitted, kLate, kLate + 1});
  txns.push_back({100, {cas("x", 1, 21, true)}, kCommitted, kLate + 2, kLate + 9});
  txns.push_back({101, {cas("x", 1, 22, true)}, kCommitted, kLate + 3, kLate + 8});
  const History h = make_history(txns);
  const Problem problem = make_problem(h);
  Stages stages;
  Budget budget(0, 0, 1'000'000);
  const Judgement v = decide_by_key(problem, {}, stages, budget);
  ASSERT_EQ(v.outcome(), Outcome::unknown);
  EXPECT_NE(
      v.reason.detail.find(" of 5003 responses on key x can be explained, but not yet that of "),
      std::string::npos)
      << v.reason.detail;
  EXPECT_TRUE(v.reason.detail.ends_with(budget.reason().detail));
}

TEST(Linearizable, LongerTransactionsAreForTheOtherLevels) {
  const History h = make_history({{1, {w("x", 1), w("y", 1)}, kCommitted, 0, 1}});
  EXPECT_FALSE(decidable_by_key(make_problem(h)));
}

}  // namespace
}  // namespace assay::internal
