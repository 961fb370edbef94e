#include "prefix_search/prefix_search.h"

#include <gtest/gtest.h>

#include "history/test_history.h"
#include "prefix_search/frontier.h"
#include "prefix_search/frontier_set.h"

namespace assay::internal {
namespace {

using namespace sample;
using enum LevelId;

std::string decide(const History& h, LevelId level) {
  Budget budget;
  Stages stages;
  const Problem problem = make_problem(h);
  return std::string(
      outcome_name(search_prefixes(problem, level_info(level), stages, budget).outcome()));
}

History lost_update() {
  return make_history({{1, {r("x", kNull), w("x", 1)}}, {2, {r("x", kNull), w("x", 2)}}});
}

TEST(PrefixSearch, lostUpdateIsPrefixConsistentOnly) {
  const History h = lost_update();
  EXPECT_EQ(decide(h, prefix), "satisfied");
  EXPECT_EQ(decide(h, session_si), "violated");
  EXPECT_EQ(decide(h, session_serializable), "violated");
}

TEST(PrefixSearch, writeSkewIsSnapshotIsolation) {
  const History h = make_history({{1, {r("x", kNull), r("y", kNull), w("x", 1)}},
                                  {2, {r("x", kNull), r("y", kNull), w("y", 2)}}});
  EXPECT_EQ(decide(h, session_si), "satisfied");
  EXPECT_EQ(decide(h, adya_si), "satisfied");
  EXPECT_EQ(decide(h, serializable), "violated");
}

// Nothing is read twice, so the order of the file fails and another must be found.
TEST(PrefixSearch, goesBack) {
  const History h = make_history({{1, {w("x", 1), w("y", 1)}},
                                  {2, {w("x", 2), w("y", 2)}},
                                  {3, {r("x", 2), w("z", 3)}},
                                  {4, {r("y", 1), r("z", kNull)}}});
  EXPECT_EQ(decide(h, session_serializable), "satisfied");
}

// Whichever writer of a comes first has a reader that needs both writers of b, and the other way
// round: there is no order, and nothing shows it before one of each has happened.
void add_contradiction(std::vector<Txn>& txns) {
  for (int64_t i = 1; i <= 2; ++i) {
    const std::string own = std::to_string(i);
    txns.push_back({20 + i, {w("a", i), w("t" + own, 1)}});
    txns.push_back({30 + i, {w("b", i), w("u" + own, 1)}});
    txns.push_back({40 + i, {r("a", i), r("u1", 1), r("u2", 1)}});
    txns.push_back({50 + i, {r("b", i), r("t1", 1), r("t2", 1)}});
  }
}

TEST(PrefixSearch, noOrderAfterEveryChoice) {
  std::vector<Txn> txns;
  add_contradiction(txns);
  EXPECT_EQ(decide(make_history(txns), session_serializable), "violated");
}

// Two transactions that see each other's past wait for each other from the beginning, whatever else
// there is.
TEST(PrefixSearch, seesAtOnceThatNothingCanFollow) {
  std::vector<Txn> txns;
  for (int64_t s = 0; s < 12; ++s)
    for (int64_t i = 0; i < 40; ++i) txns.push_back({s, {w("x", 100 * s + i)}});
  txns.push_back({20, {r("a", kNull), w("b", 1)}});
  txns.push_back({21, {r("b", kNull), w("a", 1)}});
  const History h = make_history(txns);
  Budget unlimited;
  Stages stages;
  const Judgement found =
      search_prefixes(make_problem(h), level_info(session_serializable), stages, unlimited);
  EXPECT_EQ(found.outcome(), Outcome::violated);
  const auto counters = stages.take_counters();
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0].first, "prefixes");
  EXPECT_LE(counters[0].second, 1u);
}

TEST(PrefixSearch, aBudgetIsRespected) {
  std::vector<Txn> txns;
  for (int64_t s = 0; s < 12; ++s) {
    for (int64_t i = 0; i < 40; ++i) {
      const int64_t value = 100 * s + i;
      txns.push_back({s, {w("x" + std::to_string(i % 5), value), w("y", value + 5000)}});
    }
  }
  add_contradiction(txns);
  const History h = make_history(txns);
  constexpr uint64_t kEffort = 100'000;
  Budget budget(0, 0, kEffort);
  Stages stages;
  const Judgement found =
      search_prefixes(make_problem(h), level_info(session_serializable), stages, budget);
  EXPECT_EQ(found.outcome(), Outcome::unknown);
  EXPECT_EQ(budget.cause(), UnknownCause::effort);
  EXPECT_LE(budget.spent(), kEffort);
}

TEST(Frontier, saysWhoHappenedTooEarly) {
  const History h = make_history(
      {{1, {w("x", 1)}}, {2, {w("x", 2), w("y", 2)}}, {3, {r("y", 2)}}, {3, {r("x", 1)}}});
  const Problem problem = make_problem(h);
  Frontier frontier(problem, level_info(session_serializable));
  std::vector<Frontier::TooEarly> why;
  EXPECT_FALSE(frontier.is_stuck(why));
  frontier.happen(0);  // whose reader needs the second transaction, which would overwrite x
  ASSERT_TRUE(frontier.is_stuck(why));
  ASSERT_EQ(why.size(), 1u);
  EXPECT_EQ(why[0].happened, 0u);
  EXPECT_EQ(why[0].waiting, 1u);
}

// The history of the essay in forced_orders.cc.
TEST(ForcedOrders, comeFromWhatAReaderHadBehindIt) {
  const History h = make_history(
      {{1, {w("x", 1)}}, {1, {w("y", 1)}}, {2, {w("x", 2)}}, {3, {r("y", 1), r("x", 2)}}});
  Chains chains;
  chains.nodes.items = {0, 1, 2, 3};
  chains.nodes.begin = {0, 2, 3, 4};
  chains.of = {0, 0, 1, 2};
  chains.place = {0, 1, 0, 0};
  chains.also_after = {kNone, kNone, kNone, kNone};
  const Problem problem = make_problem(h);
  const std::pair<Node, Node> first_before_second(0, 2);
  EXPECT_EQ(forced_orders(problem, chains, {}, true), std::vector{first_before_second});
  EXPECT_TRUE(forced_orders(problem, chains, {first_before_second}, true).empty());
}

TEST(Frontier, goesForwardAndBack) {
  const History h = lost_update();
  const Problem problem = make_problem(h);
  Frontier frontier(problem, level_info(prefix));
  EXPECT_EQ(frontier.chains(), 2u);
  EXPECT_TRUE(frontier.may_happen(0));
  frontier.happen(0);
  EXPECT_FALSE(frontier.may_happen(0));  // session 2 has to read x yet
  frontier.happen(1);
  EXPECT_TRUE(frontier.may_happen(0));
  frontier.happen(0);
  frontier.happen(1);
  EXPECT_TRUE(frontier.complete());
  EXPECT_EQ(frontier.events(), (std::vector<uint32_t>{0, 2, 1, 3}));
  frontier.rewind(1);
  EXPECT_FALSE(frontier.may_happen(0));
  EXPECT_TRUE(frontier.may_happen(1));
}

TEST(FrontierSet, remembersExactly) {
  FrontierSet set(2);
  for (uint32_t i = 0; i < 3000; ++i) {
    EXPECT_TRUE(set.insert(std::vector<uint32_t>{i / 50, i % 50}));
  }
  for (uint32_t i = 0; i < 3000; ++i) {
    EXPECT_FALSE(set.insert(std::vector<uint32_t>{i / 50, i % 50}));
  }
  EXPECT_EQ(set.size(), 3000u);
}

}  // namespace
}  // namespace assay::internal
