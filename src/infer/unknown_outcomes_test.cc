#include "infer/unknown_outcomes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "history/test_history.h"
#include "infer/schedule.h"
#include "infer/test_open_reads.h"

namespace assay::internal {
namespace {

using namespace sample;

using sample::kUnknown;

// How many of unknown outcome take effect in a replay in the order of the history; -1 if that does
// not explain the reads.
int effective_in(const std::vector<Txn>& txns) {
  Budget unlimited;
  const History h = make_history(txns);
  const Problem problem = problem_with_open_reads(h);
  const Schedule schedule = schedule_by_hint(problem, level_info(LevelId::serializable), unlimited);
  if (!schedule.accepted) return -1;
  Order order;
  for (const Vertex v : schedule.order)
    if (!problem.is_possible(v) ||
        std::binary_search(schedule.effective.begin(), schedule.effective.end(), v))
      order.events.push_back(problem.txn[v]);
  return order_explains(h, *problem.open, order) ? static_cast<int>(schedule.effective.size()) : -1;
}

// x = 1 is somebody's whose outcome is not known, or that of the first, which was overwritten.
TEST(UnknownOutcomes, WhoWasNeededTookEffect) {
  EXPECT_EQ(effective_in(
                {{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {w("x", 1)}, kUnknown}, {4, {r("x", 1)}}}),
            1);
}

TEST(UnknownOutcomes, WhoWasNotNeededDidNot) {
  EXPECT_EQ(effective_in({{1, {w("x", 1)}}, {2, {w("x", 1)}, kUnknown}, {3, {r("x", 1)}}}), 0);
}

// Its y was not there when somebody looked after its turn, so its x is not either.
TEST(UnknownOutcomes, WhatSomebodyMissedDidNotHappen) {
  EXPECT_EQ(effective_in({{1, {w("x", 1)}},
                          {2, {w("x", 2)}},
                          {3, {w("x", 1), w("y", 1)}, kUnknown},
                          {4, {r("y", kNull)}},
                          {5, {r("x", 1)}}}),
            -1);
}

// It read what was not there at its turn.
TEST(UnknownOutcomes, WhoCouldNotHaveReadWhatItReadDidNot) {
  EXPECT_EQ(effective_in({{1, {w("x", 1), w("z", 1)}},
                          {2, {w("x", 2), w("z", 2)}},
                          {3, {r("z", 1), w("x", 1)}, kUnknown},
                          {4, {r("x", 1)}}}),
            -1);
}

// Its y was overwritten before anybody looked.
TEST(UnknownOutcomes, WhoseWriteWasOverwrittenUnseenMayHaveTakenEffect) {
  EXPECT_EQ(effective_in({{1, {w("x", 1)}},
                          {2, {w("x", 2)}},
                          {3, {w("x", 1), w("y", 1)}, kUnknown},
                          {4, {w("y", 2)}},
                          {5, {r("y", 2)}},
                          {6, {r("x", 1)}}}),
            1);
}

// What it wrote besides is still there for others.
TEST(UnknownOutcomes, OneReaderWakesAllOfIt) {
  EXPECT_EQ(effective_in({{1, {w("x", 1), w("y", 1)}},
                          {2, {w("x", 2), w("y", 2)}},
                          {3, {w("x", 1), w("y", 1)}, kUnknown},
                          {4, {r("x", 1)}},
                          {5, {r("y", 1)}}}),
            1);
}

}  // namespace
}  // namespace assay::internal
