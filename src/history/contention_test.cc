#include "history/contention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/rng.h"
#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::make_history;
using sample::r;
using sample::w;

using sample::kCommitted;

uint64_t contended(const History& history) { return find_contention(history).transactions; }

TEST(Contention, IsOfOverlappingTransactionsThatShareAKeyWhichOneWrites) {
  EXPECT_EQ(contended(make_history(
                {{1, {w("x", 1)}, kCommitted, 0, 10}, {2, {r("x", 1)}, kCommitted, 5, 15}})),
            2u);
  EXPECT_EQ(contended(make_history(
                {{2, {r("x", 1)}, kCommitted, 0, 10}, {1, {w("x", 1)}, kCommitted, 5, 15}})),
            2u);
}

TEST(Contention, IsNotWithoutOverlapOrSharedKeyOrWrite) {
  EXPECT_EQ(contended(make_history(
                {{1, {w("x", 1)}, kCommitted, 0, 10}, {2, {r("x", 1)}, kCommitted, 11, 15}})),
            0u);
  EXPECT_EQ(contended(make_history(
                {{1, {w("x", 1)}, kCommitted, 0, 10}, {2, {w("y", 1)}, kCommitted, 5, 15}})),
            0u);
  EXPECT_EQ(contended(make_history({{1, {r("x", sample::kNull)}, kCommitted, 0, 10},
                                    {2, {r("x", sample::kNull)}, kCommitted, 5, 15}})),
            0u);
}

TEST(Contention, IsNotOfWhatAborted) {
  EXPECT_EQ(contended(make_history({{1, {w("x", 1)}, TxnStatus::aborted, 0, 10},
                                    {2, {r("x", sample::kNull)}, kCommitted, 5, 15}})),
            0u);
}

TEST(Contention, WithoutTimesIsOfWhateverIsOfOtherSessions) {
  const Contention found =
      find_contention(make_history({{1, {w("x", 1)}}, {1, {w("x", 2)}}, {2, {r("x", 1)}}}));
  EXPECT_FALSE(found.timed);
  EXPECT_EQ(found.transactions, 3u);
  EXPECT_EQ(found.write_write, 0u);
  EXPECT_EQ(found.write_read, 1u);
  EXPECT_EQ(found.read_write, 1u);
}

TEST(Contention, AgreesWithLookingAtEveryPair) {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<sample::Txn> txns;
    std::array<int64_t, 5> now{};
    for (int64_t i = 0; i < 12; ++i) {
      const int64_t session = rng.between(1, 4);
      int64_t& clock = now[static_cast<size_t>(session)];
      const int64_t begin = clock + rng.between(0, 12), end = begin + rng.between(0, 15);
      clock = end + 1;
      const std::string key = rng.chance(0.5) ? "x" : "y";
      txns.push_back({session,
                      {rng.chance(0.4) ? w(key, 1 + i) : r(key, rng.between(1, 12))},
                      kCommitted,
                      begin,
                      end});
    }
    const auto meet = [](const sample::Txn& a, const sample::Txn& b) {
      const bool writes = a.ops[0].kind == OpKind::write || b.ops[0].kind == OpKind::write;
      return a.session != b.session && a.ops[0].key == b.ops[0].key && writes && a.begin <= b.end &&
             b.begin <= a.end;
    };
    const History history = make_history(txns);
    const Contention found = find_contention(history);
    uint64_t write_write = 0, write_read = 0, read_write = 0;
    for (size_t a = 0; a < txns.size(); ++a)
      for (size_t b = 0; b < txns.size(); ++b) {
        if (!meet(txns[a], txns[b])) continue;
        const bool a_writes = txns[a].ops[0].kind == OpKind::write;
        const bool b_writes = txns[b].ops[0].kind == OpKind::write;
        if (a_writes && b_writes) write_write += a < b;
        if (a_writes && !b_writes)
          ++(txns[a].ops[0].value == txns[b].ops[0].value ? write_read : read_write);
      }
    EXPECT_EQ(found.write_write, write_write) << round;
    EXPECT_EQ(found.write_read, write_read) << round;
    EXPECT_EQ(found.read_write, read_write) << round;
    const auto met = std::count_if(txns.begin(), txns.end(), [&](const sample::Txn& a) {
      return std::any_of(txns.begin(), txns.end(),
                         [&](const sample::Txn& b) { return meet(a, b); });
    });
    EXPECT_EQ(found.transactions, static_cast<uint64_t>(met)) << round;
  }
}

// Session 1 has a range; what the others do at the same time.
uint64_t contended_by_a_range(const std::vector<OpKind>& others) {
  HistoryBuilder builder;
  const auto begin = [&](int64_t session) {
    builder.begin_txn({.session = ValueView::of(session),
                       .begin = Interval::point(0),
                       .end = Interval::point(10)});
  };
  begin(1);
  builder.add(Op::range(ValueView::null(), ValueView::null(), {}));
  EXPECT_TRUE(builder.end_txn().ok());
  int64_t session = 1;
  for (const OpKind kind : others) {
    begin(++session);
    const ValueView key = ValueView::of(session);
    if (kind == OpKind::write)
      builder.add(Op::write(key, key));
    else
      builder.add(Op::read(key, ValueView::null()));
    EXPECT_TRUE(builder.end_txn().ok());
  }
  Result<History> history = std::move(builder).finish();
  EXPECT_TRUE(history.ok());
  return history.ok() ? contended(*history) : 0;
}

TEST(Contention, ARangeMeetsEveryWriteAndNoRead) {
  EXPECT_EQ(contended_by_a_range({OpKind::write, OpKind::read}), 2u);
  EXPECT_EQ(contended_by_a_range({OpKind::write, OpKind::write}), 3u);
  EXPECT_EQ(contended_by_a_range({OpKind::read}), 0u);
}

// Six transactions, two at a time.
History pairs(bool timed) {
  HistoryBuilder builder;
  for (int64_t i = 0; i < 6; ++i) {
    const int64_t begin = 100 * (i / 2) + i % 2;
    TxnHeader head{.session = ValueView::of(i % 2)};
    if (timed) head.begin = Interval::point(begin), head.end = Interval::point(begin + 10);
    builder.begin_txn(head);
    builder.add(Op::write(ValueView::of(i / 2), ValueView::of(i)));
    EXPECT_TRUE(builder.end_txn().ok());
  }
  Result<History> history = std::move(builder).finish();
  EXPECT_TRUE(history.ok());
  return std::move(*history);
}

TEST(Contention, OfALongHistoryTheFirstTransactionsAreLookedAt) {
  for (const bool timed : {true, false}) {
    const History h = pairs(timed);
    EXPECT_EQ(find_contention(h).looked_at, 6u);
    EXPECT_EQ(find_contention(h, 6).looked_at, 6u);
    const Contention some = find_contention(h, 4);
    EXPECT_EQ(some.looked_at, 4u) << timed;
    EXPECT_EQ(some.write_write, 2u) << timed;
    EXPECT_EQ(find_contention(h).write_write, 3u) << timed;
  }
}

}  // namespace
}  // namespace assay::internal
