#include "levels/explained_order.h"

#include <gtest/gtest.h>

#include "levels/test_sources.h"

namespace assay::internal {
namespace {

using sample::r;
using sample::w;

std::vector<Vertex> explained(const std::vector<sample::Txn>& txns,
                              LevelId id = LevelId::read_committed) {
  const MatchedSources m(txns, id);
  WaitingSources waiting(m.problem, m.level, m.open, m.facts);
  return explained_order(m.graph, topological_order(m.graph, m.place), m.open, waiting);
}

// The second reads a value that two others write later; the nearer of them is enough.
TEST(ExplainedOrder, ATransactionWaitsForTheNearestSource) {
  EXPECT_EQ(
      explained(
          {{1, {w("x", 1)}}, {2, {r("x", 2), w("y", 1)}}, {3, {w("x", 2)}}, {4, {w("x", 2)}}}),
      (std::vector<Vertex>{0, 2, 1, 3}));
}

TEST(ExplainedOrder, ItsSessionWaitsToo) {
  EXPECT_EQ(explained({{1, {r("x", 2)}}, {1, {w("z", 1)}}, {2, {w("x", 2)}}, {3, {w("x", 2)}}}),
            (std::vector<Vertex>{2, 0, 1, 3}));
}

// Each waits for the session of the other.
TEST(ExplainedOrder, WhereAllWaitTheFirstGoesUnexplained) {
  EXPECT_EQ(explained({{1, {r("x", 2), w("y", 2)}},
                       {1, {w("y", 2)}},
                       {2, {r("y", 2), w("x", 2)}},
                       {2, {w("x", 2)}}}),
            (std::vector<Vertex>{0, 1, 2, 3}));
}

// Below read atomic a session may read what is older than its own write.
TEST(ExplainedOrder, AtReadAtomicASessionSeesWhatItWrote) {
  const std::vector<sample::Txn> txns = {
      {1, {w("x", 1)}}, {2, {w("x", 1)}}, {3, {w("x", 2)}}, {3, {r("x", 1)}}, {4, {w("x", 1)}}};
  EXPECT_EQ(explained(txns, LevelId::read_committed), (std::vector<Vertex>{0, 1, 2, 3, 4}));
  EXPECT_EQ(explained(txns, LevelId::read_atomic), (std::vector<Vertex>{0, 1, 2, 4, 3}));
}

}  // namespace
}  // namespace assay::internal
