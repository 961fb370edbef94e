#include "history/aggregate.h"

#include <gtest/gtest.h>

#include <vector>

#include "history/predicates.h"
#include "history/projection.h"

namespace assay::internal {
namespace {

History with(const Op& aggregation, const std::vector<std::pair<const char*, int64_t>>& writes) {
  HistoryBuilder builder;
  for (const auto& [key, value] : writes) {
    builder.begin_txn({.session = ValueView::of(1)});
    builder.add(Op::write(ValueView::of(std::string_view(key)), ValueView::of(value)));
    EXPECT_TRUE(builder.end_txn().ok());
  }
  builder.begin_txn({.session = ValueView::of(2)});
  EXPECT_TRUE(builder.add(aggregation));
  EXPECT_TRUE(builder.end_txn().ok());
  Result<History> history = std::move(builder).finish();
  EXPECT_TRUE(history.ok());
  return std::move(*history);
}

// What is certain of rows: "CONDITION complete", with the rows that it returned, and "open" if that
// is not all.
std::string claim(const Op& aggregation,
                  const std::vector<std::pair<const char*, int64_t>>& writes = {}) {
  const History h = with(aggregation, writes);
  const OpId op = h.op_count() - 1;
  const Selected selected = h.selected(op);
  std::string out = h.predicates().text(selected.predicate);
  if (selected.complete) out += " complete";
  for (const VersionId v : selected.rows)
    out += " " + h.key(h.version_key(v)).to_string() + "=" + h.version_value(v).to_string();
  return out + (is_open(h, op) ? " open" : "");
}

using enum AggregateFunction;

// Over all keys.
Op made(AggregateFunction function, std::string_view column, std::string_view where,
        ValueView returned = {}) {
  return Op::aggregated({}, {}, where, function, column, returned);
}

TEST(Aggregate, SaysWhatIsCertainOfRows) {
  EXPECT_EQ(claim(made(count, "", "v > 1", ValueView::of(0))), "v > 1 complete");
  EXPECT_EQ(claim(made(count, "", "v > 1", ValueView::of(2))), "v > 1 open");
  EXPECT_EQ(claim(made(sum, "v", "v > 1 or a = 2")), "(v > 1 or a = 2) and v is not null complete");
  EXPECT_EQ(claim(made(sum, "v", "", ValueView::of(7))), " open");
  EXPECT_EQ(claim(made(min, "value", "value > 1", ValueView::of(7)), {{"x", 7}, {"y", 8}}),
            "value > 1 and value <= 7 complete x=7");
  EXPECT_EQ(claim(made(max, "value", "", ValueView::of(7)), {{"x", 7}, {"y", 7}}),
            "value > 7 complete open");
  EXPECT_EQ(claim(made(max, "value", "", ValueView::of(std::string_view("b")))), " open");
}

TEST(Aggregate, CannotReturnEverything) {
  HistoryBuilder builder;
  builder.begin_txn({.session = ValueView::of(1)});
  EXPECT_FALSE(builder.add(made(count, "", "", ValueView::of(-1))));
  EXPECT_FALSE(builder.add(made(count, "", "", ValueView::null())));
  EXPECT_FALSE(builder.add(made(count, "", "v >", ValueView::of(1))));
  EXPECT_FALSE(builder.add(made(sum, "v", "", ValueView::of(std::string_view("a")))));
}

TEST(Aggregate, RowsAddWhatIsCertain) {
  const Aggregate total{.function = sum, .column = "v"};
  const auto kind = [&](const Row& row, Match match = Match::yes) {
    return term_of(total, match, row).kind;
  };
  using Kind = AggregateTerm::Kind;
  EXPECT_EQ(kind({{"v", {Cell::Type::integer, 5, {}}}}), Kind::integer);
  EXPECT_EQ(kind({{"v", {}}}), Kind::nothing);
  EXPECT_EQ(kind({{"v", {Cell::Type::other, 0, "1.5"}}}), Kind::open);
  EXPECT_EQ(kind({{"w", {Cell::Type::integer, 5, {}}}}), Kind::open);
  EXPECT_EQ(kind({{"v", {Cell::Type::integer, 5, {}}}}, Match::no), Kind::nothing);
  EXPECT_EQ(kind({{"v", {Cell::Type::integer, 5, {}}}}, Match::open), Kind::open);
}

// Without a writer of a row it may have been computed of less.
TEST(Aggregate, StaysInAProjectionThatKeepsAllWriters) {
  const History h =
      with(made(count, "", "value > 1", ValueView::of(2)), {{"x", 7}, {"y", 8}, {"z", 1}});
  const auto aggregates = [&](OpId left_out) {
    std::vector<bool> keep(h.op_count(), true);
    keep[left_out] = false;
    const Result<History> part = project(h, keep, nullptr);
    return part.ok() && has_open_aggregates(*part);
  };
  EXPECT_TRUE(aggregates(2));
  EXPECT_FALSE(aggregates(1));
}

}  // namespace
}  // namespace assay::internal
