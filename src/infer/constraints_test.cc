#include "infer/constraints.h"

#include <gtest/gtest.h>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using namespace sample;

bool all(Node, Node) { return true; }

// The example of constraints.cc.
History example() {
  return make_history(
      {{1, {w("x", 1), w("y", 1)}}, {2, {w("x", 2), w("y", 2)}}, {3, {r("x", 1), r("z", kNull)}}});
}

TEST(Constraints, OneForTwoTransactionsWhateverTheyShare) {
  const History h = example();
  const Problem problem = make_problem(h);
  EXPECT_EQ(count_constraints(problem, InitialWrites::none, all), (ConstraintCount{1, 5}));
  EXPECT_EQ(count_constraints(problem, InitialWrites::none, [](Node, Node) { return false; }),
            (ConstraintCount{0, 0}));
}

TEST(Constraints, TheInitialTransactionTakesPart) {
  const History h = example();
  const Problem problem = make_problem(h);
  // With T1: both ways on two keys, and T3, who read T1's x. With T2: both ways on two keys.
  EXPECT_EQ(count_constraints(problem, InitialWrites::every_key, all), (ConstraintCount{3, 14}));
  EXPECT_EQ(count_constraints(problem, InitialWrites::keys_read_initially, all),
            (ConstraintCount{1, 5}));
}

}  // namespace
}  // namespace assay::internal
