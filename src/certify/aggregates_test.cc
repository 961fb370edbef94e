#include "certify/aggregates.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "assay/verify.h"
#include "certify/evidence.h"
#include "certify/lookups.h"

namespace assay::internal::certify {
namespace {

Aggregate of(AggregateFunction function, int64_t value) {
  return {.function = function, .column = "v", .value = {Cell::Type::integer, value, {}}};
}

Match gives(const Aggregate& aggregate, const std::vector<int64_t>& rows, bool open = false) {
  Total total;
  for (const int64_t row : rows) total.add({AggregateTerm::Kind::integer, row});
  if (open) total.add({AggregateTerm::Kind::open});
  return total.gives(aggregate);
}

using enum AggregateFunction;

TEST(Aggregates, AddUp) {
  EXPECT_EQ(gives(of(sum, 5), {2, 3}), Match::yes);
  EXPECT_EQ(gives(of(sum, 5), {2, 4}), Match::no);
  EXPECT_EQ(gives(of(count, 2), {1, 1}), Match::yes);
  EXPECT_EQ(gives(of(count, 0), {}), Match::yes);
  EXPECT_EQ(gives(of(sum, 0), {}), Match::no);
  EXPECT_EQ(gives(of(min, 2), {3, 2, 4}), Match::yes);
  EXPECT_EQ(gives(of(max, 2), {3, 2, 4}), Match::no);
  EXPECT_EQ(gives(of(sum, 5), {2, 3}, true), Match::open);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(gives(of(sum, kMost), {kMost, 1, -1}), Match::open);
}

// x = 1 and y = 2, and a transaction that begins.
void begin_behind_two_writes(HistoryBuilder& builder) {
  int64_t written = 0;
  for (const std::string_view key : {"x", "y"}) {
    builder.begin_txn({.session = ValueView::of(++written)});
    builder.add(Op::write(ValueView::of(key), ValueView::of(written)));
    EXPECT_TRUE(builder.end_txn().ok());
  }
  builder.begin_txn({.session = ValueView::of(3)});
}

// An aggregate of what is above 0 behind a read of x.
History history(AggregateFunction function, int64_t value, bool reads) {
  HistoryBuilder builder;
  begin_behind_two_writes(builder);
  if (reads) builder.add(Op::read(ValueView::of(std::string_view("x")), ValueView::of(1)));
  EXPECT_TRUE(
      builder.add(Op::aggregated({}, {}, "value > 0", function, "value", ValueView::of(value))));
  EXPECT_TRUE(builder.end_txn().ok());
  return *std::move(builder).finish();
}

bool follows(const History& h, std::vector<uint32_t> events) {
  Certificate certificate;
  certificate.levels = {LevelId::serializable};
  certificate.order.events = std::move(events);
  return verify(certificate, h).ok();
}

TEST(Aggregates, AreComputedAtTheirPlaceInTheOrder) {
  EXPECT_TRUE(follows(history(sum, 3, false), {0, 1, 2}));
  EXPECT_FALSE(follows(history(sum, 3, false), {0, 2, 1}));
  EXPECT_TRUE(follows(history(sum, 2, false), {1, 2, 0}));
  EXPECT_FALSE(follows(history(sum, 4, false), {0, 1, 2}));
}

bool refuted(const History& h, OpId read, OpId other, LevelId level) {
  Certificate certificate;
  certificate.levels = {level};
  certificate.kind = Certificate::Kind::bad_read;
  certificate.bad_read = {Anomaly::result_set_mismatch, read, other};
  return verify(certificate, h).ok();
}

TEST(Aggregates, AreWrongWhereNoVersionsGiveThem) {
  EXPECT_TRUE(refuted(history(sum, 4, false), 2, kNone, LevelId::pl_1));
  EXPECT_FALSE(refuted(history(sum, 2, false), 2, kNone, LevelId::serializable));
  EXPECT_TRUE(refuted(history(count, 3, false), 2, kNone, LevelId::read_committed));
  EXPECT_FALSE(refuted(history(count, 2, false), 2, kNone, LevelId::read_committed));
  // With x = 1 they add up to 1 or 3.
  EXPECT_FALSE(refuted(history(sum, 2, true), 3, kNone, LevelId::serializable));
  EXPECT_TRUE(refuted(history(sum, 2, true), 3, 2, LevelId::serializable));
  EXPECT_TRUE(refuted(history(sum, 2, true), 3, 2, LevelId::read_atomic));
  EXPECT_FALSE(refuted(history(sum, 2, true), 3, 2, LevelId::read_committed));
  EXPECT_FALSE(refuted(history(sum, 2, true), 3, 2, LevelId::pl_3));
  EXPECT_FALSE(refuted(history(sum, 3, true), 3, 2, LevelId::serializable));
}

// That the aggregate gives something else unless its transaction saw one of these; and that it did
// not.
bool refutes_unless(const History& h, OpId op, const std::vector<Literal>& seen,
                    LevelId level = LevelId::serializable) {
  const Lookups lookups(h);
  Evidence evidence(lookups, ReadRule::clean);
  return evidence.check_aggregate(op, seen, level_info(level)).ok();
}

TEST(Aggregates, AreWrongUnlessOneOfTheirKeysWasOtherwise) {
  const History h = history(sum, 1, false);  // of x = 1 and y = 2
  const KeyId x = 0, y = 1;
  const Literal saw_x = Literal::seen(2, x, 0), no_x = Literal::seen(2, x, kNone),
                saw_y = Literal::seen(2, y, 1), no_y = Literal::seen(2, y, kNone);
  // Without y it is 1 or nothing, which only x tells apart; with y it is too much.
  EXPECT_TRUE(refutes_unless(h, 2, {no_y}));
  EXPECT_TRUE(refutes_unless(h, 2, {saw_x}));
  EXPECT_FALSE(refutes_unless(h, 2, {no_x}));
  EXPECT_FALSE(refutes_unless(h, 2, {saw_y}));
  EXPECT_FALSE(refutes_unless(h, 2, {}));
  EXPECT_TRUE(refutes_unless(h, 2, {saw_y, no_y}));
  // A sum of no rows is null.
  const History zero = history(sum, 0, false);
  EXPECT_TRUE(refutes_unless(zero, 2, {saw_x, saw_y}));
  // Of those that may not take effect, and of levels at which a transaction sees several states,
  // more has to be said.
  EXPECT_FALSE(refutes_unless(h, 2, {no_y}, LevelId::read_committed));
  EXPECT_TRUE(refutes_unless(h, 2, {Literal::seen(2, y, kNone, 2)}, LevelId::read_committed));
  EXPECT_FALSE(refutes_unless(h, 2, {!no_y}));
  EXPECT_FALSE(refutes_unless(h, 2, {Literal::seen(1, y, kNone)}));
  EXPECT_FALSE(refutes_unless(h, 0, {no_y}));
  EXPECT_FALSE(refutes_unless(h, 99, {no_y}));
}

TEST(Aggregates, OfMaximaOneKeyDecides) {
  const History h = history(max, 2, false);
  EXPECT_TRUE(refutes_unless(h, 2, {Literal::seen(2, 1, 1)}));
  EXPECT_FALSE(refutes_unless(h, 2, {Literal::seen(2, 0, 0)}));
}

// A query that returned x alone and a sum, 3, as if it were of both; the sum is of what is above 0,
// or of what the query looks for.
History with_query(std::string_view where, bool complete, bool matched, bool same = false) {
  HistoryBuilder builder;
  begin_behind_two_writes(builder);
  const std::pair row(ValueView::of(std::string_view("x")), ValueView::of(1));
  const ValueView y = ValueView::of(std::string_view("y"));
  Op query = Op::range({}, {}, {&row, 1});
  if (!where.empty()) query.where = where;
  if (matched) query.list = {&y, 1};
  query.effect = complete;
  EXPECT_TRUE(builder.add(query));
  EXPECT_TRUE(builder.add(
      Op::aggregated({}, {}, same ? where : "value > 0", sum, "value", ValueView::of(3))));
  EXPECT_TRUE(builder.end_txn().ok());
  return *std::move(builder).finish();
}

TEST(Aggregates, AreOfTheRowsThatTheTransactionFoundBesides) {
  const auto refuted_at = [](const History& h, LevelId level) { return refuted(h, 3, 2, level); };
  EXPECT_TRUE(refuted_at(with_query("value > 0", true, false), LevelId::serializable));
  EXPECT_TRUE(refuted_at(with_query("value > 0", true, false), LevelId::read_atomic));
  EXPECT_FALSE(refuted_at(with_query("value > 0", true, false), LevelId::read_committed));
  EXPECT_TRUE(refuted_at(with_query("", true, false), LevelId::serializable));
  // y may have satisfied the condition.
  EXPECT_FALSE(refuted_at(with_query("value = 1", true, false), LevelId::serializable));
  EXPECT_FALSE(refuted_at(with_query("value > 0", false, false), LevelId::serializable));
  EXPECT_FALSE(refuted_at(with_query("value > 0", true, true), LevelId::serializable));
  // It is open whether y = 2 satisfies it: the sum may have been of y, though the query did not
  // return it.
  EXPECT_TRUE(refuted_at(with_query("value in (1, 2)", true, false, true), LevelId::serializable));
  EXPECT_FALSE(
      refuted_at(with_query("value < 2 or value = 'a'", true, false, true), LevelId::serializable));
}

}  // namespace
}  // namespace assay::internal::certify
