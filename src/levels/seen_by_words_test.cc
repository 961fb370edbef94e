#include <gtest/gtest.h>

#include "history/test_history.h"
#include "levels/seen_faults.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::kUnknown;
using sample::make_history;
using sample::r;
using sample::w;

// How many edges an order in which the transactions stand as given does not follow.
size_t faults(const std::vector<sample::Txn>& txns, const SeenBy& seen) {
  const History history = make_history(txns);
  const Problem problem = make_problem(history);
  const Digraph base(problem.nodes(), {});
  std::vector<Vertex> order;
  for (Node n = 0; n < problem.nodes(); ++n) order.push_back(n);
  Budget budget;
  const std::unique_ptr<SeenFaults> found = SeenFaults::make(problem, base, seen, budget);
  std::vector<VisibilityEdge> edges;
  EXPECT_TRUE(found->prepare(order, budget));
  EXPECT_TRUE(found->find(order, edges, budget));
  return edges.size();
}

// The last transaction reads the x before A's.
const sample::Txn kA = {1, {w("x", 1), w("a", 1)}};

TEST(SeenByWords, EachWordSeesWhatItSpells) {
  const std::vector<sample::Txn> s = {kA, {1, {r("x", kNull)}}};
  const std::vector<sample::Txn> r1 = {kA, {2, {r("a", 1), r("x", kNull)}}};
  const std::vector<sample::Txn> rs = {kA, {2, {r("a", 1)}}, {2, {r("x", kNull)}}};
  const std::vector<sample::Txn> sr = {kA, {1, {w("b", 1)}}, {2, {r("b", 1), r("x", kNull)}}};
  const std::vector<sample::Txn> rr = {
      kA, {2, {r("a", 1), w("b", 1)}}, {3, {r("b", 1), r("x", kNull)}}};
  const std::vector<sample::Txn> rsr = {
      kA, {2, {r("a", 1)}}, {2, {w("b", 1)}}, {3, {r("b", 1), r("x", kNull)}}};
  const std::pair<std::string_view, const std::vector<sample::Txn>*> all[] = {
      {"s", &s}, {"r", &r1}, {"rs", &rs}, {"sr", &sr}, {"rr", &rr}, {"rsr", &rsr}};
  for (const auto& [word, own] : all)
    for (const auto& [spelt, txns] : all)
      EXPECT_EQ(faults(*txns, {.words = {word}}), word == spelt ? 1u : 0u)
          << word << " in the history of " << spelt;
}

TEST(SeenByWords, AReadCountsForLaterOnesOnlyWhereTheRowSaysSo) {
  const std::vector<sample::Txn> after = {kA, {2, {r("x", kNull), r("a", 1)}}};
  EXPECT_EQ(faults(after, {.words = {"r"}}), 1u);
  EXPECT_EQ(faults(after, {.words = {"r"}, .earlier_reads = true}), 0u);
}

TEST(SeenByWords, ASessionDoesNotGoOnBehindAnUnknownOutcome) {
  const sample::Txn unknown = {1, {w("x", 1)}, kUnknown};
  const std::vector<sample::Txn> own = {unknown, {1, {r("x", kNull)}}, {2, {r("x", 1)}}};
  EXPECT_EQ(faults(own, {.words = {"s"}}), 0u);
  // What one read counts for those who read from it all the same.
  const std::vector<sample::Txn> read = {
      kA, {2, {r("a", 1), w("b", 1)}, kUnknown}, {3, {r("b", 1), r("x", kNull)}}};
  EXPECT_EQ(faults(read, {.words = {"rr", "rsr"}}), 1u);
}

// The order follows what was seen: nothing is at fault, and nothing is given.
TEST(SeenByWords, GivesOnlyWhatTheOrderRunsAgainst) {
  const std::vector<sample::Txn> txns = {kA, {2, {w("x", 2)}}, {3, {r("a", 1), r("x", 2)}}};
  for (const std::string_view word : {"s", "r", "rs", "sr", "rr"})
    EXPECT_EQ(faults(txns, {.words = {word}}), 0u) << word;
}

}  // namespace
}  // namespace assay::internal
