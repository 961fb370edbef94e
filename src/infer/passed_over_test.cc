#include "infer/passed_over.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "assay/history.h"

namespace assay::internal {
namespace {

// 0: x = 15   1: x = 30   2: whatever is below 20, which y = 3 is alone   3: y = 3
class Queries : public testing::Test {
 protected:
  static History history(bool complete = true) {
    HistoryBuilder builder;
    const auto txn = [&](int64_t session, auto put) {
      builder.begin_txn({.session = ValueView::of(session)});
      put();
      EXPECT_TRUE(builder.end_txn().ok());
    };
    txn(1, [&] { builder.write(ValueView::of("x"), ValueView::of(int64_t{15})); });
    txn(2, [&] { builder.write(ValueView::of("x"), ValueView::of(int64_t{30})); });
    txn(3, [&] {
      const std::pair<ValueView, ValueView> row{ValueView::of("y"), ValueView::of(int64_t{3})};
      EXPECT_TRUE(
          builder.select({.where = "value < 20", .rows = {&row, 1}, .complete = complete}).ok());
    });
    txn(4, [&] { builder.write(ValueView::of("y"), ValueView::of(int64_t{3})); });
    Result<History> built = std::move(builder).finish();
    EXPECT_TRUE(built.ok());
    return std::move(built).value();
  }
  static std::vector<PassedOver> found(const History& h, std::vector<uint32_t> events,
                                       uint32_t reach = 0, bool split = false) {
    return contradicted(h, {.split = split, .events = std::move(events)}, reach);
  }
  static PassedOver x_of(const History& h) { return {h.first_op(2), h.op(h.first_op(0)).key}; }
};

TEST_F(Queries, MustReturnWhatSatisfiesThemAtTheirPlace) {
  const History h = history();
  EXPECT_EQ(found(h, {3, 0, 2, 1}), (std::vector<PassedOver>{x_of(h)}));
  EXPECT_TRUE(found(h, {3, 2, 0, 1}).empty());
  EXPECT_TRUE(found(h, {3, 0, 1, 2}).empty());
  // y = 3 is named, wherever it stands.
  EXPECT_TRUE(found(h, {2, 0, 1, 3}).empty());
}

TEST_F(Queries, SeeTheirSnapshot) {
  const History h = history();
  // r(3) w(3) r(0) w(0) r(1) r(2) w(1) w(2)
  EXPECT_EQ(found(h, {6, 7, 0, 1, 2, 4, 3, 5}, 0, true), (std::vector<PassedOver>{x_of(h)}));
  EXPECT_TRUE(found(h, {6, 7, 4, 0, 1, 2, 3, 5}, 0, true).empty());
}

TEST_F(Queries, ThatDoNotClaimToBeCompleteAreContradictedByNothing) {
  const History h = history(false);
  EXPECT_FALSE(passes_over(h, h.first_op(2)));
  EXPECT_TRUE(found(h, {3, 0, 2, 1}).empty());
}

TEST_F(Queries, NearbyRowsCountOnlyBesideAContradiction) {
  const History h = history();
  EXPECT_TRUE(found(h, {3, 0, 1, 2}, 1).empty());
  EXPECT_TRUE(found(h, {3, 2, 0, 1}, 1).empty());
  EXPECT_EQ(found(h, {3, 0, 2, 1}, 1).size(), 1u);
}

TEST_F(Queries, SeeWhatTheirTransactionWrote) {
  HistoryBuilder builder;
  builder.begin_txn({.session = ValueView::of(int64_t{1})});
  builder.write(ValueView::of("x"), ValueView::of(int64_t{15}));
  EXPECT_TRUE(builder.select({.where = "value < 20"}).ok());
  builder.write(ValueView::of("x"), ValueView::of(int64_t{30}));
  EXPECT_TRUE(builder.select({.where = "value < 20"}).ok());
  EXPECT_TRUE(builder.end_txn().ok());
  Result<History> h = std::move(builder).finish();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(found(*h, {0}), (std::vector<PassedOver>{{1, 0}}));
}

}  // namespace
}  // namespace assay::internal
