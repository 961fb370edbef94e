#include "prefix_search/value_beam.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "history/test_history.h"
#include "prefix_search/value_chains.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;

using Txns = std::vector<sample::Txn>;

// The order that is found, each event as an index into `txns`, twice where the level has two;
// nothing if none is. It fails if a transaction does not read what the order leaves, or if one
// overwrites what changed since it began where the level forbids that.
std::vector<uint32_t> found(const Txns& txns, LevelId id) {
  const LevelInfo& level = level_info(id);
  const History history = make_history(txns);
  const Problem problem = make_problem(history);
  Budget budget;
  const std::optional<ValueOrder> order = search_by_values(problem, level, 2'000'000, budget);
  if (!order) return {};
  const bool split = level.events == EventModel::split;
  std::map<std::string, sample::Value> held;
  std::map<std::string, size_t> changed;
  std::map<uint32_t, size_t> began;
  std::vector<uint32_t> events;
  for (const uint32_t v : order->events) {
    const uint32_t t = problem.txn[split ? v / 2 : v];
    events.push_back(t);
    const bool reads = !split || v % 2 == 0, writes = !split || v % 2 == 1;
    if (reads) began[t] = events.size();
    for (const sample::SampleOp& op : txns[t].ops) {
      if (reads && op.kind == OpKind::read) {
        EXPECT_EQ(held[op.key], op.value) << t;
      }
      if (!writes || op.kind != OpKind::write) continue;
      if (level.write_conflict) {
        EXPECT_LE(changed[op.key], began[t]) << t;
      }
      held[op.key] = op.value;
      changed[op.key] = events.size();
    }
  }
  EXPECT_EQ(events.size(), (split ? 2 : 1) * txns.size());
  return events;
}

TEST(ValueBeam, WhoWroteAValueDoesNotMatter) {
  const Txns txns = {{1, {w("x", 1)}},
                     {1, {r("y", 2), w("x", 1)}},
                     {2, {w("x", 2), w("y", 2)}},
                     {2, {r("x", 1), r("y", 2)}}};
  EXPECT_FALSE(found(txns, session_serializable).empty());
  EXPECT_FALSE(found(txns, session_si).empty());
  EXPECT_FALSE(found(txns, prefix).empty());
}

TEST(ValueBeam, NoOrderIsFoundForWhatNobodyWrote) {
  EXPECT_TRUE(found({{1, {w("x", 1)}}, {2, {r("x", 2)}}}, session_serializable).empty());
  EXPECT_TRUE(found({{1, {w("x", 1)}}, {1, {r("x", kNull)}}}, session_serializable).empty());
}

TEST(ValueBeam, TransactionsThatOverlapDoNotWriteTheSameKey) {
  const Txns skew = {{1, {r("x", kNull), r("y", kNull), w("x", 1)}},
                     {2, {r("x", kNull), r("y", kNull), w("y", 1)}}};
  EXPECT_TRUE(found(skew, session_serializable).empty());
  EXPECT_FALSE(found(skew, session_si).empty());
  const Txns lost = {{1, {r("x", kNull), w("x", 1)}}, {2, {r("x", kNull), w("x", 1)}}};
  EXPECT_TRUE(found(lost, session_si).empty());
  EXPECT_FALSE(found(lost, prefix).empty());
}

TEST(ValueBeam, VeryLongTransactionsAreLeftToOtherSearches) {
  const auto with_writes = [](uint32_t count) {
    Txns txns = {{1, {}}, {2, {r("k0", 1)}}};
    for (uint32_t i = 0; i < count; ++i) txns.front().ops.push_back(w("k" + std::to_string(i), 1));
    return txns;
  };
  EXPECT_FALSE(found(with_writes(ValueChains::kMostAccesses), session_serializable).empty());
  EXPECT_TRUE(found(with_writes(ValueChains::kMostAccesses + 1), session_serializable).empty());
}

}  // namespace
}  // namespace assay::internal
