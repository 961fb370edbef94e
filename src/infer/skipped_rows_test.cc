#include "infer/skipped_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "base/rng.h"
#include "history/accesses.h"

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
    txn(1, [&] { builder.add(Op::write(ValueView::of("x"), ValueView::of(int64_t{15}))); });
    txn(2, [&] { builder.add(Op::write(ValueView::of("x"), ValueView::of(int64_t{30}))); });
    txn(3, [&] {
      const std::pair<ValueView, ValueView> row{ValueView::of("y"), ValueView::of(int64_t{3})};
      Op query = Op::select({}, {}, "value < 20", {&row, 1});
      query.effect = complete;
      EXPECT_TRUE(builder.add(query));
    });
    txn(4, [&] { builder.add(Op::write(ValueView::of("y"), ValueView::of(int64_t{3}))); });
    Result<History> built = std::move(builder).finish();
    EXPECT_TRUE(built.ok());
    return std::move(built).value();
  }
  static std::vector<SkippedRow> found(const History& h, std::vector<uint32_t> events,
                                       uint32_t reach = 0, bool split = false) {
    return contradicted(h, {.split = split, .events = std::move(events)}, reach);
  }
  static SkippedRow x_of(const History& h) { return {h.first_op(2), h.op(h.first_op(0)).key}; }
};

TEST_F(Queries, MustReturnWhatSatisfiesThemAtTheirPlace) {
  const History h = history();
  EXPECT_EQ(found(h, {3, 0, 2, 1}), (std::vector<SkippedRow>{x_of(h)}));
  EXPECT_TRUE(found(h, {3, 2, 0, 1}).empty());
  EXPECT_TRUE(found(h, {3, 0, 1, 2}).empty());
  // y = 3 is named, wherever it stands.
  EXPECT_TRUE(found(h, {2, 0, 1, 3}).empty());
}

TEST_F(Queries, SeeTheirSnapshot) {
  const History h = history();
  // r(3) w(3) r(0) w(0) r(1) r(2) w(1) w(2)
  EXPECT_EQ(found(h, {6, 7, 0, 1, 2, 4, 3, 5}, 0, true), (std::vector<SkippedRow>{x_of(h)}));
  EXPECT_TRUE(found(h, {6, 7, 4, 0, 1, 2, 3, 5}, 0, true).empty());
}

TEST_F(Queries, ThatDoNotClaimToBeCompleteAreContradictedByNothing) {
  const History h = history(false);
  EXPECT_FALSE(skips_rows(h, h.first_op(2)));
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
  builder.add(Op::write(ValueView::of("x"), ValueView::of(int64_t{15})));
  EXPECT_TRUE(builder.add(Op::select({}, {}, "value < 20")));
  builder.add(Op::write(ValueView::of("x"), ValueView::of(int64_t{30})));
  EXPECT_TRUE(builder.add(Op::select({}, {}, "value < 20")));
  EXPECT_TRUE(builder.end_txn().ok());
  Result<History> h = std::move(builder).finish();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(found(*h, {0}), (std::vector<SkippedRow>{{1, 0}}));
}

// By the definition: at no more than `reach` events from its place, the state holds what the query
// should have returned.
std::vector<SkippedRow> contradicted_by_states(const History& h, uint32_t reach) {
  const uint32_t txns = h.txn_count();
  std::vector<std::vector<KeyState>> states(1,
                                            std::vector<KeyState>(h.key_count()));  // after so many
  for (TxnId t = 0; t < txns; ++t) {
    states.push_back(states.back());
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      if (installs_version(h.op(i))) states.back()[h.op(i).key] = install_of(h, i).state();
  }
  std::vector<SkippedRow> found;
  bool any = false;
  for (TxnId t = 0; t < txns; ++t)
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      for (KeyId key = 0; is_range(h.op(i)) && key < h.key_count(); ++key) {
        if (returned(h, i, key)) continue;
        const auto satisfies = [&](const KeyState& state) {
          return match_of_state(h, state, h.selected(i).predicate) == Match::yes;
        };
        std::vector<std::pair<uint32_t, KeyState>> seen;  // how far away, what
        for (OpId w = h.first_op(t); w < i; ++w)
          if (installs_version(h.op(w)) && h.op(w).key == key)
            seen.assign(1, {0, install_of(h, w).state()});
        const bool own = !seen.empty();
        for (uint32_t n = 0; !own && n <= txns; ++n)
          if (std::max(n, t) - std::min(n, t) <= reach)
            seen.emplace_back(std::max(n, t) - std::min(n, t), states[n][key]);
        for (const auto& [off, state] : seen)
          if (satisfies(state)) {
            found.push_back({i, key});
            any = any || off == 0;
          }
      }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return any ? found : std::vector<SkippedRow>{};
}

// Few queries of a condition are looked at one by one, many together.
TEST(SkippedRow, IsWhatTheStatesOfAnOrderSay) {
  Rng rng(11);
  size_t found = 0;
  for (int round = 0; round < 200; ++round) {
    HistoryBuilder builder;
    const uint64_t conditions = 1 + rng.below(30);
    for (int64_t t = 0; t < 60; ++t) {
      builder.begin_txn({.session = ValueView::of(t)});
      for (uint64_t op = 0; op < 1 + rng.below(4); ++op) {
        const auto key = [&] { return ValueView::of(static_cast<int64_t>(rng.below(5))); };
        const auto value = [&] { return ValueView::of(static_cast<int64_t>(rng.below(40))); };
        const uint64_t kind = rng.below(10);
        if (kind < 4) {
          builder.add(Op::write(key(), value()));
        } else if (kind == 4) {
          builder.add(Op::remove(key(), ValueView::null()));
        } else {
          const std::pair<ValueView, ValueView> row{key(), value()};
          const std::string where = "value >= " + std::to_string(rng.below(conditions));
          EXPECT_TRUE(builder.add(Op::select({}, {}, where, {&row, rng.below(2)})));
        }
      }
      EXPECT_TRUE(builder.end_txn().ok());
    }
    const Result<History> h = std::move(builder).finish();
    ASSERT_TRUE(h.ok());
    Order order;
    for (TxnId t = 0; t < h->txn_count(); ++t) order.events.push_back(t);
    for (const uint32_t reach : {0u, 2u, 100u}) {
      const std::vector<SkippedRow> expected = contradicted_by_states(*h, reach);
      EXPECT_EQ(contradicted(*h, order, reach), expected)
          << "round " << round << ", reach " << reach;
      found += expected.size();
    }
  }
  EXPECT_GT(found, 10'000u);
}

}  // namespace
}  // namespace assay::internal
