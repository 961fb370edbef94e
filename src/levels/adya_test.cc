#include "levels/adya.h"

#include <gtest/gtest.h>

#include "history/test_history.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;

constexpr LevelId kAll[] = {pl_1, pl_2, pl_cs, pl_2_plus, pl_2_99, pl_3};

std::string letters(const History& h) {
  const Problem problem = make_problem(h);
  AdyaLevels levels(problem, UpdateOrders::known);
  std::string out;
  for (const LevelId level : kAll) {
    Budget budget;
    const Judgement v = levels.decide(level, budget);
    out += v.outcome() == Outcome::satisfied ? '+' : v.outcome() == Outcome::violated ? '-' : 'u';
    EXPECT_EQ(v.certificate.order.events.empty(), v.outcome() != Outcome::satisfied);
    EXPECT_EQ(v.certificate.proof.steps.empty(), v.outcome() != Outcome::violated);
    EXPECT_EQ(v.reason.empty(), v.outcome() != Outcome::unknown);
  }
  return out;
}

TEST(Adya, theKindsOfEdgesMatter) {
  EXPECT_EQ(letters(make_history({{1, {w("x", 1), w("y", 1)}}, {2, {w("x", 2), w("y", 2)}}},
                                 {{"x", {1, 2}}, {"y", {2, 1}}})),
            "------");
  EXPECT_EQ(letters(make_history({{1, {r("x", 1), w("y", 1)}}, {2, {r("y", 1), w("x", 1)}}})),
            "+-----");
  EXPECT_EQ(letters(make_history({{1, {r("x", kNull), w("x", 1)}}, {2, {r("x", kNull), w("x", 2)}}},
                                 {{"x", {1, 2}}})),
            "++----");
  EXPECT_EQ(letters(make_history({{1, {w("x", 1), w("y", 1)}}, {2, {r("x", kNull), r("y", 1)}}})),
            "+++---");
  EXPECT_EQ(
      letters(make_history({{1, {r("x", kNull), w("y", 1)}}, {2, {r("y", kNull), w("x", 1)}}})),
      "++++--");
  EXPECT_EQ(letters(make_history({{1, {w("x", 1)}}, {1, {r("x", kNull)}}})), "++++++");
}

TEST(Adya, aLostUpdateMayLieFurtherBack) {
  const std::vector<sample::Txn> txns = {
      {1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {w("x", 3)}}, {4, {r("x", 1), w("x", 4)}}};
  EXPECT_EQ(letters(make_history(txns, {{"x", {1, 2, 3, 4}}})), "++----");
  EXPECT_EQ(letters(make_history(txns, {{"x", {1, 4, 2, 3}}})), "++++++");
}

// Neither version changes what the query returns, so what follows each is looked at, as far as that
// is new.
TEST(Adya, WhatAQueryPassedOverMayBeStatedInACircle) {
  HistoryBuilder builder;
  const ValueView x = ValueView::of("x");
  for (const int64_t session : {1, 2}) {
    builder.begin_txn({.session = ValueView::of(session)});
    builder.add(Op::write(x, ValueView::of(session)));
    ASSERT_TRUE(builder.end_txn().ok());
  }
  builder.begin_txn({.session = ValueView::of(int64_t{3})});
  builder.add(Op::read(x, ValueView::of(int64_t{1})));
  ASSERT_TRUE(builder.add(Op::select({}, {}, "value > 5")));
  ASSERT_TRUE(builder.end_txn().ok());
  const History history = std::move(builder).finish().value();
  const std::vector<Seen> seen = {{history.first_op(2) + 1, 0, 0}};
  Problem problem = make_problem(history, seen);
  problem.stated = {{0, 1, 0, 0, false}, {1, 0, 0, 0, false}};
  Budget budget;
  EXPECT_EQ(AdyaLevels(problem, UpdateOrders::known).decide(pl_3, budget).outcome(),
            Outcome::violated);
}

TEST(Adya, updatesOrderVersions) {
  const History update = make_history({{1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}});
  CheckOptions options;
  options.levels.assign(std::begin(kAll), std::end(kAll));
  for (const bool carry : {true, false}) {
    options.speed_ups.set(SpeedUp::carry, carry);
    const CheckResult result = decide_levels(update, options);
    for (const LevelId level : kAll)
      EXPECT_EQ(result.find(level)->outcome, Outcome::satisfied) << level_info(level).name;
  }
  // Whichever of the two came first, the other lost its update.
  EXPECT_EQ(
      letters(make_history({{1, {r("x", kNull), w("x", 1)}}, {2, {r("x", kNull), w("x", 2)}}})),
      "++----");
  EXPECT_EQ(letters(make_history(
                {{1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}, {3, {r("x", 1), w("x", 3)}}})),
            "++----");
  // Of the second it is not certain that it took effect.
  EXPECT_EQ(letters(make_history({{1, {r("x", kNull), w("x", 1)}},
                                  {2, {r("x", kNull), w("x", 2)}, TxnStatus::unknown}})),
            "++++++");
}

TEST(Adya, withoutTheOrderOfVersionsOnlyCertainCyclesAreTold) {
  EXPECT_EQ(letters(make_history({{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {r("x", 1)}}})),
            "uuuuuu");
  // Nobody read either: any order will do.
  EXPECT_EQ(letters(make_history({{1, {w("x", 1)}}, {2, {w("x", 2)}}})), "++++++");
  EXPECT_EQ(letters(make_history({{1, {w("x", 1), w("y", 1)}},
                                  {2, {w("x", 2)}},
                                  {3, {r("x", 2), r("y", kNull)}},
                                  {2, {r("x", 1), r("y", 1)}}})),
            "uuuuuu");
  EXPECT_EQ(letters(make_history({{1, {w("x", 1), w("y", 1)}},
                                  {2, {w("x", 2), w("y", 2)}},
                                  {3, {r("x", kNull), r("y", 2)}}})),
            "uuu---");
}

// Of a dirty read nothing else is asked.
TEST(Adya, whereAVersionStandsThatWasReadHasToBeKnownAtPl1Too) {
  const auto told = [](const History& history) {
    CheckOptions options;
    options.levels = {pl_1};
    return decide_levels(history, options).find(pl_1)->outcome;
  };
  constexpr TxnStatus kAborted = TxnStatus::aborted;
  const sample::Txn dirty[] = {{4, {w("y", 1)}, kAborted}, {5, {r("y", 1)}}};
  std::vector<sample::Txn> txns = {
      {1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {r("x", 1)}}, dirty[0], dirty[1]};
  EXPECT_EQ(told(make_history(txns)), Outcome::unknown);
  EXPECT_EQ(told(make_history(txns, {{"x", {1, 2}}})), Outcome::satisfied);
  txns.erase(txns.begin() + 2);  // nobody reads x
  EXPECT_EQ(told(make_history(txns)), Outcome::satisfied);
}

// A known order may be stated in pieces, and two that overlap are one.
TEST(Adya, piecesOfAnOrderAreEnough) {
  const std::vector<sample::Txn> txns = {
      {1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {w("x", 3)}}, {4, {r("x", 1)}}, {4, {r("x", 2)}}};
  EXPECT_EQ(letters(make_history(txns, {{"x", {1, 2}}, {"x", {2, 3}}})), "++++++");
  EXPECT_EQ(letters(make_history(txns, {{"x", {1, 2}}, {"x", {1, 3}}})), "uuuuuu");
}

TEST(Adya, anOrderOfAllIsThatOfVersionsWhereEachNextOneIsStated) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {w("x", 3)}}};
  const auto stated = [&](const std::vector<sample::Stated>& orders) {
    const History history = make_history(txns, orders);
    const Problem problem = make_problem(history, {});
    return states_version_orders(problem, std::vector<Node>{0, 1, 2});
  };
  EXPECT_TRUE(stated({{"x", {1, 2, 3}}}));
  EXPECT_TRUE(stated({{"x", {2, 3}}, {"x", {1, 3}}, {"x", {1, 2}}}));
  EXPECT_FALSE(stated({{"x", {1, 2}}, {"x", {1, 3}}}));
  EXPECT_FALSE(stated({}));
}

TEST(Adya, onlyWhoAsksIsAnswered) {
  const History h = make_history({{1, {w("x", 1)}}});
  EXPECT_EQ(decide_levels(h, {}).find(pl_3), nullptr);
  CheckOptions options;
  options.levels = {pl_3, serializable};
  const CheckResult result = decide_levels(h, options);
  EXPECT_EQ(result.find(pl_3)->outcome, Outcome::satisfied);
  EXPECT_EQ(result.find(serializable)->outcome, Outcome::satisfied);
}

}  // namespace
}  // namespace assay::internal
