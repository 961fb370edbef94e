#include "infer/order_faults.h"

#include <gtest/gtest.h>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::kUnknown;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;

// A history with what its reads leave open.
struct Case {
  History history;
  Problem problem;
  std::optional<OpenReads> open;
  Budget budget{};

  explicit Case(const std::vector<sample::Txn>& txns) : history(make_history(txns)) {
    problem = make_problem(history);
    open.emplace(history, true);
    open->add(problem, budget);
    open->add_possible(problem, budget);
    problem = make_problem(history, {}, budget, {.possible = open->possible()});
  }

  std::vector<OrderFault> faults(LevelId level, const std::vector<Vertex>& order,
                                 const std::vector<Node>& effective = {}) const {
    const EventGraph events(problem, level_info(level));
    OrderFaults found(events, &*open);
    for (const Node n : effective) found.set_effective(n, true);
    return found.find(order);
  }
};

TEST(OrderFaults, NamesTheWritersWhoseOrderMakesAReadWrong) {
  const Case c({{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {r("x", 1)}}});
  EXPECT_TRUE(c.faults(serializable, {1, 0, 2}).empty());
  EXPECT_TRUE(c.faults(serializable, {0, 2, 1}).empty());
  const std::vector<OrderFault> faults = c.faults(serializable, {0, 1, 2});
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].kind, OrderFault::Kind::pair);
  EXPECT_EQ(faults[0].first, 0u);
  EXPECT_EQ(faults[0].writer, 1u);
}

TEST(OrderFaults, NamesWritersThatOverlap) {
  const Case c({{1, {w("x", 1)}}, {2, {w("x", 2)}}});
  const std::vector<Vertex> overlapping = {0, 2, 1, 3};  // r r w w
  const std::vector<OrderFault> faults = c.faults(adya_si, overlapping);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].first, 0u);
  EXPECT_EQ(faults[0].writer, 1u);
  EXPECT_TRUE(c.faults(adya_si, {0, 1, 2, 3}).empty());
  EXPECT_TRUE(c.faults(prefix, overlapping).empty());
}

TEST(OrderFaults, AnOpenReadHasToMeetOneOfItsSources) {
  const Case c({{1, {w("x", 1)}}, {2, {w("x", 1)}}, {3, {w("x", 2)}}, {4, {r("x", 1)}}});
  EXPECT_TRUE(c.faults(serializable, {2, 0, 3, 1}).empty());
  EXPECT_TRUE(c.faults(serializable, {2, 1, 3, 0}).empty());
  const std::vector<OrderFault> faults = c.faults(serializable, {0, 1, 2, 3});
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].kind, OrderFault::Kind::source);
  EXPECT_EQ(faults[0].first, 3u);
  EXPECT_EQ(faults[0].writer, 2u);
}

// The first two wrote the same; the second has no known outcome, and wrote y too.
TEST(OrderFaults, WhoTakesEffectOnlyPerhapsStandsInTheWayOnlyIfItDoes) {
  const Case c({{1, {w("x", 1)}},
                {2, {w("x", 1), w("y", 2)}, kUnknown},
                {3, {w("y", 1)}},
                {4, {r("x", 1), r("y", 1)}}});
  ASSERT_EQ(c.problem.possible, std::vector<Node>{1});
  EXPECT_TRUE(c.faults(serializable, {0, 2, 1, 3}).empty());
  const std::vector<OrderFault> faults = c.faults(serializable, {0, 2, 1, 3}, {1});
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].kind, OrderFault::Kind::intruder);
  EXPECT_EQ(faults[0].first, 3u);
  EXPECT_EQ(faults[0].writer, 1u);
  EXPECT_TRUE(c.faults(serializable, {0, 1, 2, 3}, {1}).empty());
}

}  // namespace
}  // namespace assay::internal
