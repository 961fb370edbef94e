#include "history/aborted_reads.h"

#include <gtest/gtest.h>

#include "oracle/draft.h"

namespace assay::internal {
namespace {

DraftOp op(OpKind kind, int key, DraftValue value) {
  DraftOp made;
  made.kind = kind;
  made.key = key;
  made.value = value;
  return made;
}
DraftOp swap(int key, DraftValue expected, DraftValue value, bool effect) {
  DraftOp made = op(OpKind::cas, key, value);
  made.expected = expected;
  made.effect = effect;
  return made;
}
DraftOp ins(int key, DraftValue value, bool effect) {
  DraftOp made = op(OpKind::insert, key, value);
  made.effect = effect;
  return made;
}
DraftOp list(int key, std::vector<int64_t> elements) {
  DraftOp made = op(OpKind::read_list, key, {});
  made.list = std::move(elements);
  return made;
}
DraftOp between(int lo, int hi, std::vector<std::pair<int, DraftValue>> rows) {
  DraftOp made = op(OpKind::range, lo, {});
  made.hi = hi;
  made.rows = std::move(rows);
  return made;
}

// The operations of the companion of the only transaction, as text; empty if it has none.
std::string companion_of(std::vector<DraftOp> ops) {
  Draft draft;
  draft.txns.push_back({.status = TxnStatus::aborted, .ops = std::move(ops)});
  const Result<History> recorded = draft.history();
  EXPECT_TRUE(recorded.ok());
  const Result<CountedReads> counted = count_aborted_reads(*recorded);
  EXPECT_TRUE(counted.ok());
  const History& h = counted->history;
  EXPECT_EQ(h.txn_count(), 1 + counted->companions);
  if (counted->companions == 0) return {};
  EXPECT_EQ(h.name(0), "1-0:reads");
  EXPECT_EQ(h.status(0), TxnStatus::committed);
  EXPECT_EQ(h.status(1), TxnStatus::aborted);
  std::string text;
  const auto name = [&](KeyId key) { return h.key(key).to_string(); };
  const auto value = [&](VersionId v) { return h.version_value(v).to_string(); };
  for (OpId i = h.first_op(0); i < h.end_op(0); ++i) {
    const Operation o = h.op(i);
    if (!text.empty()) text += ' ';
    switch (o.kind) {
      case OpKind::read:
        text += "r(" + name(o.key) + "," + value(o.version) + ")";
        break;
      case OpKind::write:
        text += "w(" + name(o.key) + "," + value(o.version) + ")";
        break;
      case OpKind::read_list:
        text += "l(" + name(o.key);
        for (const VersionId v : h.operands(i)) text += "," + value(v);
        text += ")";
        break;
      case OpKind::range:
        text += name(h.operands(i)[0]) + ".." + name(h.operands(i)[1]) + "[";
        for (const VersionId v : h.selected(i).rows)
          text += name(h.version_key(v)) + "=" + value(v);
        text += "]";
        break;
      default:
        text += (o.effect ? "op(" : "op!(") + name(o.key) + ")";
        break;
    }
  }
  return text;
}

TEST(AbortedReads, WhatWritesWithoutLookingHasNoCompanion) {
  EXPECT_EQ(
      companion_of({op(OpKind::write, 0, 1), op(OpKind::remove, 1, 2), op(OpKind::append, 2, 3)}),
      "");
  EXPECT_EQ(companion_of({op(OpKind::write, 0, 1), op(OpKind::read, 0, 1)}), "");
}

TEST(AbortedReads, CompanionsSeeWhatWasSeen) {
  EXPECT_EQ(companion_of({op(OpKind::read, 0, 1), op(OpKind::write, 0, 2), op(OpKind::read, 0, 2),
                          op(OpKind::read, 1, {})}),
            "r(x,1) r(y,null)");
  EXPECT_EQ(companion_of({swap(0, 1, 2, true), swap(1, 1, 2, false)}), "r(x,1) op!(y)");
  EXPECT_EQ(companion_of({ins(0, 1, true), ins(1, 1, false)}), "r(x,null) op!(y)");
}

TEST(AbortedReads, OwnElementsLeaveAList) {
  EXPECT_EQ(
      companion_of({op(OpKind::append, 0, 8), op(OpKind::append, 0, 9), list(0, {1, 2, 8, 9})}),
      "l(x,1,2)");
  EXPECT_EQ(companion_of({op(OpKind::append, 0, 8), op(OpKind::append, 0, 8), list(0, {8})}),
            "op(x@1-0) op(x@1-0) l(x@1-0,8)");
}

TEST(AbortedReads, ARangeFallsIntoThoseBetweenOwnKeys) {
  EXPECT_EQ(companion_of({op(OpKind::read, 0, 1), op(OpKind::write, 1, 5),
                          between(0, 2, {{0, 1}, {1, 5}}), op(OpKind::read, 2, {})}),
            "r(x,1) x..x[x=1] z..z[] r(z,null)");
}

TEST(AbortedReads, OwnWritesThatWereNotSeenAreShownOnAKeyOfItsOwn) {
  EXPECT_EQ(companion_of({op(OpKind::write, 0, 5), op(OpKind::read, 0, 1)}),
            "w(x@1-0,5) r(x@1-0,1)");
  EXPECT_EQ(companion_of({op(OpKind::write, 0, 5), between(0, 0, {})}), "w(x@1-0,5) r(x@1-0,null)");
  EXPECT_EQ(companion_of({op(OpKind::remove, 0, 5), ins(0, 6, false)}), "op(x@1-0) op!(x@1-0)");
}

TEST(AbortedReads, AKeyOfItsOwnIsNobodyElses) {
  Draft draft;
  draft.txns.push_back(
      {.status = TxnStatus::aborted,
       .ops = {op(OpKind::write, 0, 5), op(OpKind::read, 0, 1), op(OpKind::read, 0, 2)}});
  const Result<CountedReads> counted = count_aborted_reads(*draft.history());
  ASSERT_TRUE(counted.ok());
  const History& h = counted->history;
  ASSERT_EQ(h.end_op(0), 4u);
  EXPECT_EQ(h.key(h.op(1).key).to_string(), "x@1-0");
  EXPECT_EQ(h.key(h.op(3).key).to_string(), "x@1-0'");
}

TEST(AbortedReads, WhoMayStillTakeEffectIsReadInASessionOfItsOwn) {
  Draft draft;
  draft.txns.push_back({.status = TxnStatus::unknown,
                        .begin = Interval::point(3),
                        .end = Interval::point(7),
                        .ops = {op(OpKind::read, 0, 1), op(OpKind::write, 0, 2)}});
  const Result<CountedReads> counted = count_aborted_reads(*draft.history());
  ASSERT_TRUE(counted.ok());
  const History& h = counted->history;
  ASSERT_EQ(h.txn_count(), 2u);
  EXPECT_NE(h.session(0), h.session(1));
  EXPECT_EQ(h.begin_time(0), Interval::point(3));
  EXPECT_EQ(h.end_time(0), Interval::from(3));
  EXPECT_EQ(h.status(1), TxnStatus::unknown);
}

}  // namespace
}  // namespace assay::internal
