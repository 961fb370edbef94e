#include "prefix_search/prefix_search.h"

#include <gtest/gtest.h>

#include "history/test_history.h"
#include "prefix_search/frontier.h"
#include "prefix_search/frontier_set.h"

namespace assay::internal {
namespace {

using namespace sample;
using enum LevelId;

std::string decide(const History& h, LevelId level, Budget budget = {}) {
  const Problem problem = make_problem(h);
  return std::string(outcome_name(search_prefixes(problem, level_info(level), budget).outcome));
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

TEST(PrefixSearch, aBudgetIsRespected) {
  std::vector<Txn> txns;
  for (int64_t s = 0; s < 12; ++s) {
    for (int64_t i = 0; i < 40; ++i) {
      const int64_t value = 100 * s + i;
      txns.push_back({s, {w("x" + std::to_string(i % 5), value), w("y", value + 5000)}});
    }
  }
  // Two transactions that see each other's past: there is no order, and very many prefixes.
  txns.push_back({20, {r("a", kNull), w("b", 1)}});
  txns.push_back({21, {r("b", kNull), w("a", 1)}});
  const History h = make_history(txns);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(decide(h, session_serializable, Budget(0.1, 0)), "unknown");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
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
