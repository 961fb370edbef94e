#include "history/aggregate.h"

#include <gtest/gtest.h>

#include <vector>

#include "history/predicates.h"
#include "history/projection.h"

namespace assay::internal {
namespace {

History with(const Aggregation& aggregation,
             const std::vector<std::pair<const char*, int64_t>>& writes) {
  HistoryBuilder builder;
  for (const auto& [key, value] : writes) {
    builder.begin_txn({.session = ValueView::of(1)});
    builder.write(ValueView::of(std::string_view(key)), ValueView::of(value));
    EXPECT_TRUE(builder.end_txn().ok());
  }
  builder.begin_txn({.session = ValueView::of(2)});
  EXPECT_TRUE(builder.aggregate(aggregation).ok());
  EXPECT_TRUE(builder.end_txn().ok());
  Result<History> history = std::move(builder).finish();
  EXPECT_TRUE(history.ok());
  return std::move(*history);
}

// What is certain of rows: "CONDITION complete", with the rows that it returned, and "open" if that is not all.
std::string claim(const Aggregation& aggregation,
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

TEST(Aggregate, SaysWhatIsCertainOfRows) {
  EXPECT_EQ(claim({.where = "v > 1", .value = ValueView::of(0)}), "v > 1 complete");
  EXPECT_EQ(claim({.where = "v > 1", .value = ValueView::of(2)}), "v > 1 open");
  EXPECT_EQ(claim({.where = "v > 1 or a = 2", .function = sum, .column = "v"}),
            "(v > 1 or a = 2) and v is not null complete");
  EXPECT_EQ(claim({.function = sum, .column = "v", .value = ValueView::of(7)}), " open");
  EXPECT_EQ(
      claim({.where = "value > 1", .function = min, .column = "value", .value = ValueView::of(7)},
            {{"x", 7}, {"y", 8}}),
      "value > 1 and value <= 7 complete x=7");
  EXPECT_EQ(
      claim({.function = max, .column = "value", .value = ValueView::of(7)}, {{"x", 7}, {"y", 7}}),
      "value > 7 complete open");
  EXPECT_EQ(
      claim({.function = max, .column = "value", .value = ValueView::of(std::string_view("b"))}),
      " open");
}

TEST(Aggregate, CannotReturnEverything) {
  HistoryBuilder builder;
  builder.begin_txn({.session = ValueView::of(1)});
  EXPECT_FALSE(builder.aggregate({.value = ValueView::of(-1)}).ok());
  EXPECT_FALSE(builder.aggregate({.value = ValueView::null()}).ok());
  EXPECT_FALSE(builder.aggregate({.where = "v >", .value = ValueView::of(1)}).ok());
  EXPECT_FALSE(
      builder
          .aggregate(
              {.function = sum, .column = "v", .value = ValueView::of(std::string_view("a"))})
          .ok());
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
      with({.where = "value > 1", .value = ValueView::of(2)}, {{"x", 7}, {"y", 8}, {"z", 1}});
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
