#include "levels/waiting_sources.h"

#include <gtest/gtest.h>

#include "graph/incremental_order.h"
#include "levels/test_sources.h"

namespace assay::internal {
namespace {

using sample::r;
using sample::w;

// The sources that the reads of x have in the order of the transactions.
struct Found {
  std::vector<TxnId> sources;
  size_t unexplained;
};

Found found(const std::vector<sample::Txn>& txns, LevelId id) {
  MatchedSources m(txns, id);
  IncrementalOrder order(m.graph, topological_order(m.graph, m.place));
  const Search search(m.problem, m.level, nullptr, &m.open, nullptr, m.graph, order, {});
  WaitingSources waiting(m.problem, m.level, m.open, m.facts);
  Found all{{}, waiting.find(m.place, search).size()};
  for (uint32_t i = 0; i < m.open.all().size(); ++i) all.sources.push_back(waiting.of(i));
  return all;
}

TEST(WaitingSources, AReadIsNotOlderThanWhatItsReaderHasSeen) {
  const std::vector<sample::Txn> writers = {
      {1, {w("x", 1)}}, {2, {w("x", 1), w("y", 2)}}, {3, {w("x", 1)}}};
  std::vector<sample::Txn> after = writers, before = writers;
  after.push_back({4, {r("y", 2), r("x", 1)}});
  before.push_back({4, {r("x", 1), r("y", 2)}});
  EXPECT_EQ(found(after, LevelId::read_committed).sources, (std::vector<TxnId>{1}));
  EXPECT_EQ(found(before, LevelId::read_committed).sources, (std::vector<TxnId>{0}));
  EXPECT_EQ(found(before, LevelId::read_atomic).sources, (std::vector<TxnId>{1}));
}

// From read atomic upwards it does not matter which of two reads comes first: what the later one
// has seen the earlier one has seen, and no source overwrote what a known read saw.
TEST(WaitingSources, AllReadsOfATransactionCountTogether) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}},
                                         {2, {w("y", 1)}},
                                         {3, {w("x", 1), w("y", 1)}},
                                         {4, {w("x", 1), w("z", 9)}},
                                         {5, {w("x", 1), w("z", 7)}},
                                         {6, {r("z", 9), r("y", 1), r("x", 1)}}};
  EXPECT_EQ(found(txns, LevelId::read_atomic).sources, (std::vector<TxnId>{1, 3}));
  EXPECT_EQ(found({{1, {w("z", 9)}},
                   {2, {w("x", 1), w("z", 7)}},
                   {3, {w("x", 1)}},
                   {4, {r("x", 1), r("z", 9)}}},
                  LevelId::read_atomic)
                .sources,
            (std::vector<TxnId>{2}));
}

TEST(WaitingSources, WithoutAnEarlierSourceItIsUnexplained) {
  const Found none = found({{1, {w("x", 1)}},
                            {2, {w("x", 3), w("y", 2)}},
                            {3, {r("y", 2), r("x", 1)}},
                            {4, {w("x", 1)}}},
                           LevelId::read_committed);
  EXPECT_EQ(none.unexplained, 1u);
}

}  // namespace
}  // namespace assay::internal
