#include "oracle/oracle.h"

#include <gtest/gtest.h>

#include "oracle/random_draft.h"
#include "oracle/second_opinion.h"
#include "oracle/selftest.h"

namespace assay::internal::oracle {
namespace {

using enum LevelId;

DraftOp r(int key, DraftValue v) { return {.kind = OpKind::read, .key = key, .value = v}; }
DraftOp w(int key, int64_t v) { return {.kind = OpKind::write, .key = key, .value = v}; }
DraftOp append(int key, int64_t v) { return {.kind = OpKind::append, .key = key, .value = v}; }
DraftOp list(int key, std::vector<int64_t> v) {
  return {.kind = OpKind::read_list, .key = key, .list = std::move(v)};
}
constexpr DraftValue kNull = std::nullopt;
constexpr int kX = 0, kY = 1;

DraftTxn txn(int session, std::vector<DraftOp> ops, TxnStatus status = TxnStatus::committed) {
  return {.session = session, .status = status, .ops = std::move(ops)};
}
DraftTxn timed(int session, int64_t begin, int64_t end, std::vector<DraftOp> ops) {
  DraftTxn t = txn(session, std::move(ops));
  t.begin = Interval::point(begin);
  t.end = Interval::point(end);
  return t;
}

Outcome verdict(const Draft& draft, LevelId level) {
  const auto h = draft.history();
  EXPECT_TRUE(h.ok());
  return decide(*h, level);
}
bool holds(const Draft& draft, LevelId level) {
  return verdict(draft, level) == Outcome::satisfied;
}

TEST(Oracle, writeSkewSeparatesSnapshotFromSerial) {
  const Draft d{.txns = {txn(1, {r(kX, kNull), r(kY, kNull), w(kX, 1)}),
                         txn(2, {r(kX, kNull), r(kY, kNull), w(kY, 2)})}};
  EXPECT_TRUE(holds(d, session_si));
  EXPECT_EQ(verdict(d, serializable), Outcome::violated);
}

TEST(Oracle, lostUpdateSeparatesPrefixFromSnapshot) {
  const Draft d{.txns = {txn(1, {r(kX, kNull), w(kX, 1)}), txn(2, {r(kX, kNull), w(kX, 2)})}};
  EXPECT_TRUE(holds(d, prefix));
  EXPECT_EQ(verdict(d, adya_si), Outcome::violated);
}

TEST(Oracle, aRangeHasBothItsEnds) {
  for (const int key : {0, 1, 2}) {
    DraftOp range{.kind = OpKind::range, .key = 0, .hi = 1};
    const Draft d{.txns = {txn(1, {w(key, 1)}), txn(1, {range})}};
    EXPECT_EQ(holds(d, session_serializable), key == 2) << key;
    EXPECT_TRUE(holds(d, serializable));
  }
}

TEST(Oracle, nonRepeatableReadIsReadCommittedOnly) {
  const Draft d{.txns = {txn(1, {w(kX, 1)}), txn(2, {r(kX, kNull), r(kX, 1)})}};
  EXPECT_TRUE(holds(d, read_committed));
  EXPECT_EQ(verdict(d, read_atomic), Outcome::violated);
  EXPECT_EQ(verdict(d, adya_si), Outcome::violated);
}

TEST(Oracle, badReadsViolateEveryLevel) {
  const Draft cases[] = {
      {.txns = {txn(1, {r(kX, 7)})}},                                          // thin air
      {.txns = {txn(1, {w(kX, 7)}, TxnStatus::aborted), txn(2, {r(kX, 7)})}},  // aborted
      {.txns = {txn(1, {w(kX, 7), w(kX, 8)}), txn(2, {r(kX, 7)})}},            // intermediate
      {.txns = {txn(1, {r(kX, 7), w(kX, 7)})}},                                // future
      {.txns = {txn(1, {w(kX, 7), r(kX, kNull)})}},                            // not my own write
      {.txns = {txn(1, {w(kX, 7), w(kX, 8), r(kX, 7)})}},                      // not my last write
      {.txns = {txn(1, {w(kX, 6), w(kX, 7)}, TxnStatus::unknown), txn(2, {r(kX, 6)})}},
  };
  for (const Draft& d : cases) {
    for (const LevelInfo& level : default_levels()) {
      if (level.id == linearizable) continue;  // not defined for most of these
      EXPECT_EQ(verdict(d, level.id), Outcome::violated) << level.name << "\n" << d.text();
    }
  }
}

TEST(Oracle, aWriteOfUnknownOutcomeCountsOnceRead) {
  Draft d{.txns = {txn(1, {w(kX, 1), w(kY, 1)}, TxnStatus::unknown), txn(2, {r(kX, 1)})}};
  EXPECT_TRUE(holds(d, session_serializable));
  d.txns.push_back(txn(2, {r(kY, kNull)}));  // x of it was seen before, y is not
  EXPECT_EQ(verdict(d, session_si), Outcome::violated);
  EXPECT_TRUE(holds(d, serializable));
  d.txns[1].ops.clear();  // nobody reads it: it need not have happened
  EXPECT_TRUE(holds(d, session_serializable));
}

TEST(Oracle, aSessionGoesOnWithoutItsUnknownTransaction) {
  const Draft d{.txns = {txn(1, {w(kX, 1)}), txn(1, {w(kX, 2)}, TxnStatus::unknown),
                         txn(1, {r(kX, 1)}), txn(2, {r(kX, 2)})}};
  EXPECT_TRUE(holds(d, session_serializable));
  Draft certain = d;
  certain.txns[1].status = TxnStatus::committed;
  EXPECT_EQ(verdict(certain, session_serializable), Outcome::violated);
}

TEST(Oracle, realTimeIsStrict) {
  Draft d{.txns = {timed(1, 0, 10, {w(kX, 1)}), timed(2, 10, 20, {r(kX, kNull)})}};
  EXPECT_TRUE(holds(d, strict_serializable));
  EXPECT_TRUE(holds(d, strong_si));
  EXPECT_TRUE(holds(d, linearizable));
  d.txns[1].begin = Interval::point(11);
  EXPECT_EQ(verdict(d, strict_serializable), Outcome::violated);
  EXPECT_EQ(verdict(d, strong_si), Outcome::violated);
  EXPECT_EQ(verdict(d, linearizable), Outcome::violated);
  EXPECT_TRUE(holds(d, generalized_si));
}

TEST(Oracle, withoutTimesRealTimeIsUnknown) {
  Draft d{.txns = {timed(1, 0, 10, {w(kX, 1)}), txn(2, {r(kX, 1)})}};
  for (const LevelId level : {generalized_si, strong_session_si, strong_si, strict_serializable}) {
    EXPECT_EQ(verdict(d, level), Outcome::unknown);
  }
  d.txns[1].ops = {r(kX, 1), r(kX, kNull)};  // violated whatever the times are
  EXPECT_EQ(verdict(d, strict_serializable), Outcome::violated);
}

TEST(Oracle, listsSayTheOrderOfTheirWriters) {
  Draft d{.txns = {txn(1, {append(kX, 1)}), txn(2, {append(kX, 2)}), txn(3, {list(kX, {2, 1})})}};
  EXPECT_TRUE(holds(d, session_serializable));
  d.txns.push_back(txn(4, {list(kX, {1})}));
  for (const LevelInfo& level : default_levels()) {
    if (level.real_time != RealTime::none) continue;
    EXPECT_EQ(verdict(d, level.id), Outcome::violated) << level.name;
  }
  d.txns.back() = txn(4, {append(kX, 3), list(kX, {2, 1, 3})});
  EXPECT_TRUE(holds(d, session_serializable));
}

TEST(Oracle, valuesWrittenTwiceMayComeFromEither) {
  const Draft d{
      .txns = {txn(1, {w(kX, 1)}), txn(1, {w(kX, 2)}), txn(2, {w(kX, 1)}), txn(1, {r(kX, 1)})}};
  EXPECT_TRUE(holds(d, session_serializable));
  Draft once = d;
  once.txns.erase(once.txns.begin() + 2);
  EXPECT_EQ(verdict(once, read_atomic), Outcome::violated);
}

// Fifteen reads of eight possible sources each need not be combined where nobody appended what was
// read besides.
TEST(Oracle, whatNobodyExplainsEndsTheTrying) {
  Draft d;
  for (int s = 1; s <= 8; ++s) d.txns.push_back(txn(s, {w(kX, 1)}));
  for (int s = 9; s <= 13; ++s) d.txns.push_back(txn(s, {r(kX, 1), r(kX, 1), r(kX, 1)}));
  d.txns.push_back(txn(14, {list(kY, {5})}));
  d.txns.push_back(txn(15, {append(kY, 5)}, TxnStatus::unknown));
  EXPECT_TRUE(holds(d, read_committed));
}

TEST(Oracle, removedInsertedAndComparedKeys) {
  const DraftOp insert{.kind = OpKind::insert, .key = kX, .value = 5};
  const DraftOp remove{.kind = OpKind::remove, .key = kX, .value = 9};
  const DraftOp failed{.kind = OpKind::cas, .key = kX, .value = 6, .expected = 5, .effect = false};
  const DraftOp none{.kind = OpKind::range, .key = kX, .hi = kY};
  Draft d{.txns = {txn(1, {w(kX, 1)}), txn(1, {remove}), txn(1, {none, insert, r(kX, 5)})}};
  EXPECT_TRUE(holds(d, session_serializable));
  d.txns.push_back(txn(1, {failed}));
  EXPECT_EQ(verdict(d, session_serializable), Outcome::violated);
  d.txns.pop_back();
  d.txns.push_back(txn(1, {none}));
  EXPECT_EQ(verdict(d, session_serializable), Outcome::violated);
  EXPECT_TRUE(holds(d, serializable));
}

// The definitions in replay.h and commit_order.h against two other ways to say them.
TEST(Oracle, secondOpinionsAgree) {
  Rng rng(7);
  RandomShape shape{.max_txns = 5, .max_ops = 3, .duplicates = 0.2, .lists = 0.2, .rich = 0.2};
  uint64_t compared = 0, satisfied = 0;
  for (int i = 0; i < 4000; ++i) {
    const Draft draft = random_draft(rng, shape);
    const auto h = draft.history();
    if (!h.ok()) continue;
    for (const LevelInfo& level : all_levels()) {
      const Outcome said = decide(*h, level.id);
      for (const Outcome other : {by_version_orders(*h, level.id), by_axioms(*h, level.id)}) {
        if (other == Outcome::unknown || said == Outcome::unknown) continue;
        ++compared;
        satisfied += said == Outcome::satisfied;
        ASSERT_EQ(said, other) << level.name << "\n" << draft.text();
      }
    }
  }
  EXPECT_GT(compared, 30'000u);
  EXPECT_GT(satisfied, compared / 5);
  EXPECT_LT(satisfied, compared * 9 / 10);
}

TEST(Oracle, knowsEveryLevelAsTheLatticeTableDoes) {
  const auto itself = [](const History& h) { return decide_all(h); };
  const SelftestResult result = selftest(
      itself, {.seed = 3, .count = 3000, .shape = {.duplicates = 0.1, .lists = 0.1, .rich = 0.1}});
  EXPECT_TRUE(result.ok()) << result.failure;
  for (const LevelInfo& level : default_levels()) {
    const auto& counts = result.outcomes[static_cast<size_t>(level.id)];
    EXPECT_GT(counts[0], 100u) << level.name;
    EXPECT_GT(counts[1], level.id == linearizable ? 30u : 300u) << level.name;
  }
}

// A wrong checker must be caught, whatever it gets wrong.
TEST(Selftest, catchesAWrongChecker) {
  const auto caught = [](const Checker& checker) {
    return !selftest(checker, {.seed = 5, .count = 3000, .shape = {.single_op = 0.3}}).ok();
  };
  EXPECT_TRUE(caught([](const History&) {
    Verdicts v;
    v.fill(Outcome::satisfied);
    return v;
  }));
  for (const LevelInfo& level : default_levels()) {
    const auto wrong = static_cast<size_t>(level.id);
    EXPECT_TRUE(caught([wrong](const History& h) {
      Verdicts v = decide_all(h);
      Outcome& o = v[wrong];
      if (h.txn_count() % 2 == 1 && o == Outcome::violated) o = Outcome::satisfied;
      return v;
    })) << level.name;
  }
}

}  // namespace
}  // namespace assay::internal::oracle
