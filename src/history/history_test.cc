#include "assay/history.h"

#include <gtest/gtest.h>

#include <utility>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::v;

TEST(History, readAndWriteOfOneValueShareAVersion) {
  HistoryBuilder b;
  b.begin_txn({.session = v(1)});
  b.add(Op::write(v("x"), v(7)));
  ASSERT_TRUE(b.end_txn().ok());
  b.begin_txn({.session = v(2)});
  b.add(Op::read(v("x"), v(7)));
  b.add(Op::read(v("y"), v(7)));
  b.add(Op::read(v("x"), ValueView::null()));
  ASSERT_TRUE(b.end_txn().ok());
  auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->op(0).version, h->op(1).version);
  EXPECT_NE(h->op(1).version, h->op(2).version);
  EXPECT_TRUE(h->is_initial(h->op(3).version));
  EXPECT_FALSE(h->is_initial(h->op(0).version));
  EXPECT_EQ(h->txn_of(0), 0u);
  EXPECT_EQ(h->txn_of(3), 1u);
  EXPECT_EQ(h->name(1), "2-0");
  EXPECT_EQ(h->key(h->op(2).key).to_string(), "y");
}

// What a transaction saw of an own write that it undid later is held against that write, and is
// right for a removal, too: nothing stays of it but the write, in an aborted transaction. What is
// wrong stays on a key of its own.
TEST(History, whatWasSeenOfAnUndoneWriteIsLookedAtAtOnce) {
  const auto undone = [](auto write_and_read) {
    HistoryBuilder b;
    b.begin_txn({.session = v(1), .name = "a"});
    b.add(Op::write(v("y"), v(1)));
    const size_t savepoint = b.savepoint();
    write_and_read(b);
    EXPECT_TRUE(b.roll_back_to(savepoint).ok());
    EXPECT_TRUE(b.end_txn().ok());
    auto h = std::move(b).finish();
    EXPECT_TRUE(h.ok());
    return h.ok() ? std::pair(h->end_op(0), h->txn_count()) : std::pair(OpId{0}, TxnId{0});
  };
  const std::pair<OpId, TxnId> right{1, 2}, wrong{3, 2};
  const ValueView null = ValueView::null();
  const auto removed_and_read = [&](const ValueView& seen) {
    return [seen](HistoryBuilder& b) {
      b.add(Op::remove(v("x"), v("t"))), b.add(Op::read(v("x"), seen));
    };
  };
  EXPECT_EQ(undone(removed_and_read(null)), right);
  EXPECT_EQ(undone(removed_and_read(v("t"))), right);
  EXPECT_EQ(undone(removed_and_read(v("u"))), wrong);
  const auto written_and_read = [&](const ValueView& seen) {
    return [seen](HistoryBuilder& b) {
      b.add(Op::write(v("x"), v(7))), b.add(Op::read(v("x"), seen));
    };
  };
  EXPECT_EQ(undone(written_and_read(v(7))), right);
  EXPECT_EQ(undone(written_and_read(null)), wrong);
}

TEST(History, outcomeReplacesPendingLine) {
  HistoryBuilder b;
  b.begin_txn({.session = v(1), .name = "a", .pending = true});
  b.add(Op::write(v("x"), v(1)));
  ASSERT_TRUE(b.end_txn().ok());
  b.begin_txn({.session = v(2), .name = "b", .pending = true});
  b.add(Op::write(v("x"), v(2)));
  ASSERT_TRUE(b.end_txn().ok());
  b.begin_txn({.session = v(1), .name = "a", .status = TxnStatus::aborted});
  b.add(Op::write(v("x"), v(1)));
  b.add(Op::write(v("y"), v(1)));
  ASSERT_TRUE(b.end_txn().ok());
  auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  ASSERT_EQ(h->txn_count(), 2u);
  EXPECT_EQ(h->op_count(), 3u);
  EXPECT_EQ(h->status(0), TxnStatus::aborted);
  EXPECT_EQ(h->end_op(0) - h->first_op(0), 2u);
  EXPECT_EQ(h->status(1), TxnStatus::unknown);
  EXPECT_EQ(h->name(1), "b");
}

History settled(HistoryBuilder b, std::string event) {
  b.event(9, std::move(event));
  auto h = std::move(b).finish();
  EXPECT_TRUE(h.ok()) << h.error().to_string();
  return h.ok() ? std::move(*h) : History{};
}

TEST(History, whoASettledEventNamesDidNotCommit) {
  const auto some = [] {
    HistoryBuilder b;
    for (const bool pending : {true, false}) {
      b.begin_txn({.session = v(1),
                   .name = pending ? "a" : "",
                   .status = TxnStatus::unknown,
                   .pending = pending});
      b.add(Op::write(v("x"), v(int64_t{pending})));
      EXPECT_TRUE(b.end_txn().ok());
    }
    b.begin_txn({.session = v(2), .name = "7", .status = TxnStatus::aborted});
    EXPECT_TRUE(b.end_txn().ok());
    return b;
  };
  using enum TxnStatus;
  const auto statuses = [&](std::string event) {
    const History h = settled(some(), std::move(event));
    std::vector<TxnStatus> all;
    for (TxnId t = 0; t < h.txn_count(); ++t) all.push_back(h.status(t));
    return all;
  };
  const std::vector<TxnStatus> none = {unknown, unknown, aborted};
  EXPECT_EQ(statuses(R"({"event":"settled","aborted":["a",7,"nobody"]})"),
            (std::vector{aborted, unknown, aborted}));
  EXPECT_EQ(statuses(R"({"aborted":["1-1"],"event":"s\u0065ttled"})"),
            (std::vector{unknown, aborted, aborted}));
  for (const char* nothing : {R"({"event":"settled"})", R"({"event":"settled","aborted":[]})",
                              R"({"event":"note","aborted":["a"],"of":"settled"})",
                              R"({"event":"settled","aborted":["a",null]})",
                              R"({"event":"settled","aborted":"a"})", "settled"})
    EXPECT_EQ(statuses(nothing), none) << nothing;
}

TEST(History, operandsOfRichOperations) {
  HistoryBuilder b;
  b.begin_txn({.session = v(1)});
  b.add(Op::append(v("l"), v(1)));
  const ValueView list[] = {v(3), v(1)};
  b.add(Op::read_list(v("l"), list));
  b.add(Op::read_list(v("l"), {}));
  b.add(Op::cas(v("z"), v(4), v(5), false));
  const std::pair<ValueView, ValueView> rows[] = {{v("b"), v(4)}};
  b.add(Op::range(v("a"), ValueView::null(), rows));
  ASSERT_TRUE(b.end_txn().ok());
  auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->op(1).version, h->op(0).version);
  ASSERT_EQ(h->operands(1).size(), 2u);
  EXPECT_EQ(h->operands(1)[1], h->op(0).version);
  EXPECT_TRUE(h->is_initial(h->op(2).version));
  EXPECT_TRUE(h->operands(2).empty());
  EXPECT_FALSE(h->op(3).effect);
  EXPECT_EQ(h->version_value(h->operands(3)[0]).integer, 4);
  EXPECT_EQ(h->selected(4).rows.size(), 1u);
  EXPECT_TRUE(h->selected(4).complete);
  EXPECT_EQ(h->key(h->operands(4)[0]).text, "a");
  EXPECT_EQ(h->operands(4)[1], kNone);
}

// Lists that are the beginning of the longest of their key are kept as its length.
TEST(History, listsOfOneKey) {
  using List = std::vector<int64_t>;
  const std::vector<std::pair<std::string, List>> read = {
      {"l", {1, 2}}, {"l", {1, 2, 3}}, {"m", {1}}, {"l", {1}},       {"l", {2, 1}},
      {"m", {1, 7}}, {"l", {}},        {"m", {7}}, {"l", {1, 2, 4}}, {"l", {1, 2, 3, 9}}};
  HistoryBuilder b;
  b.begin_txn({.session = v(1)});
  for (const auto& [key, elements] : read) {
    std::vector<ValueView> views;
    for (const int64_t e : elements) views.push_back(v(e));
    b.add(Op::read_list(v(key), views));
  }
  ASSERT_TRUE(b.end_txn().ok());
  const auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  for (OpId i = 0; i < read.size(); ++i) {
    List found;
    for (const VersionId e : h->operands(i)) {
      found.push_back(h->version_value(e).integer);
      EXPECT_EQ(h->version_key(e), h->op(i).key);
    }
    EXPECT_EQ(found, read[i].second) << i;
  }
}

TEST(History, sessionTimesMustNotRunBackwards) {
  HistoryBuilder b;
  b.begin_txn(
      {.session = v(1), .begin = Interval::point(0), .end = Interval::point(10), .line = 1});
  ASSERT_TRUE(b.end_txn().ok());
  b.begin_txn(
      {.session = v(1), .begin = Interval::point(9), .end = Interval::point(12), .line = 2});
  ASSERT_TRUE(b.end_txn().ok());
  auto h = std::move(b).finish();
  ASSERT_FALSE(h.ok());
  EXPECT_EQ(h.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(h.error().line, 2u);
}

// Begin and end, and transactions of one session, may lie in intervals that overlap.
TEST(History, intervalsOfASessionMayOverlap) {
  struct Times {
    Interval begin, end;
  };
  const auto fits = [](std::initializer_list<Times> txns) {
    HistoryBuilder b;
    for (const Times& t : txns) {
      b.begin_txn({.session = v(1), .begin = t.begin, .end = t.end});
      EXPECT_TRUE(b.end_txn().ok());
    }
    return std::move(b).finish().ok();
  };
  EXPECT_TRUE(fits({{{185, 215}, {205, 235}}}));
  EXPECT_TRUE(fits({{{1, 5}, {1, 5}}, {{1, 5}, {1, 5}}}));
  EXPECT_TRUE(fits({{Interval::from(3), {}}, {{1, 3}, {3, 4}}}));
  // 6 is the earliest end of the first, 5 the latest begin of the second.
  EXPECT_FALSE(fits({{{1, 9}, {6, 9}}, {{1, 5}, {1, 9}}}));
  // Pairwise there is room, for all three there is not.
  EXPECT_FALSE(fits({{{6, 9}, {6, 9}}, {}, {{1, 5}, {1, 9}}}));
  EXPECT_FALSE(fits({{{6, 9}, {1, 5}}}));
}

TEST(History, contentHashIgnoresNamesAndSeesValues) {
  const auto build = [](std::string_view name, int64_t value) {
    HistoryBuilder b;
    b.begin_txn({.session = v(1), .name = name});
    b.add(Op::write(v("x"), v(value)));
    EXPECT_TRUE(b.end_txn().ok());
    return std::move(b).finish()->content_hash();
  };
  EXPECT_EQ(build("a", 1), build("b", 1));
  EXPECT_NE(build("a", 1), build("a", 2));
}

TEST(History, storeStaysBelowSixtyFourBytesAnOperation) {
  HistoryBuilder b;
  constexpr int kTxns = 50'000;
  constexpr int kOps = 8;
  for (int t = 0; t < kTxns; ++t) {
    b.begin_txn({.session = v(t % 20), .begin = Interval::point(t), .end = Interval::point(t)});
    for (int i = 0; i < kOps; ++i) {
      const int64_t key = (t * 31 + i * 7) % 10'000;
      if (i % 2 == 0) {
        b.add(Op::write(v(key), v(t * kOps + i)));
      } else {
        b.add(Op::read(v(key), ValueView::null()));
      }
    }
    ASSERT_TRUE(b.end_txn().ok());
  }
  auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  EXPECT_LE(h->memory_bytes(), 64u * kTxns * kOps);
}

// Whoever follows a history as it is written holds many of a line each.
TEST(History, OfOneTransactionIsSmall) {
  HistoryBuilder builder;
  builder.begin_txn({.session = ValueView::of(1)});
  builder.add(Op::write(ValueView::of("x"), ValueView::of(1)));
  ASSERT_TRUE(builder.end_txn().ok());
  const Result<History> h = std::move(builder).finish();
  ASSERT_TRUE(h.ok());
  EXPECT_LE(h->memory_bytes(), 2048u);
}

TEST(RareColumn, IsAsLongAsItsLastRowThatSaysAnything) {
  RareColumn<int> column(-1);
  column.set(3, -1);
  EXPECT_TRUE(column.empty());
  EXPECT_EQ(column[3], -1);
  column.set(2, 7);
  column.set(5, -1);
  EXPECT_EQ(column.rows(), (std::vector<int>{-1, -1, 7}));
  EXPECT_EQ(column[2], 7);
  EXPECT_EQ(column[5], -1);
  const uint32_t staying[] = {2, 0, 9};
  column.keep(staying);
  EXPECT_EQ(column.rows(), (std::vector<int>{7}));
  column.set(0, -1);
  EXPECT_EQ(column[0], -1);
}

}  // namespace
}  // namespace assay::internal
