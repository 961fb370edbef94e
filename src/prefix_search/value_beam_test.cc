#include "prefix_search/value_beam.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "base/rng.h"
#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;

using Txns = std::vector<sample::Txn>;

// The order that is found, each event as an index into `txns`, twice where the level has two; nothing if none is. It fails if a
// transaction does not read what the order leaves, or if one overwrites what changed since it began where the level forbids that.
std::vector<uint32_t> found(const Txns& txns, LevelId id) {
  const LevelInfo& level = level_info(id);
  const History history = make_history(txns);
  const Problem problem = make_problem(history);
  Budget budget;
  const std::optional<ValueOrder> order = search_by_values(problem, level, budget);
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

// What ten sessions do one transaction after the other, listed session by session.
Txns one_after_the_other(uint32_t count, uint64_t keys, uint64_t values, uint64_t seed) {
  Rng rng(seed);
  std::vector<sample::Value> held(keys);
  std::vector<Txns> sessions(10);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t session = rng.below(sessions.size());
    sample::Txn txn{static_cast<int64_t>(session), {}};
    const uint64_t first = rng.below(keys);
    for (uint64_t k = first; k < first + 4; ++k)
      txn.ops.push_back(r("k" + std::to_string(k % keys), held[k % keys]));
    for (uint64_t k = first + 2; k < first + 5; ++k) {
      held[k % keys] = static_cast<int64_t>(1 + rng.below(values));
      txn.ops.push_back(w("k" + std::to_string(k % keys), held[k % keys]));
    }
    sessions[session].push_back(std::move(txn));
  }
  Txns all;
  for (const Txns& session : sessions) all.insert(all.end(), session.begin(), session.end());
  return all;
}

TEST(ValueBeam, AFewValuesAreEnough) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Txns txns = one_after_the_other(100, 5, 2, seed);
    EXPECT_FALSE(found(txns, session_serializable).empty()) << seed;
    EXPECT_FALSE(found(txns, session_si).empty()) << seed;
  }
}

// A search for writers does not, with a hundred times the effort.
TEST(ValueBeam, DecidesWithLittleEffort) {
  const History history = make_history(one_after_the_other(100, 5, 2, 1));
  CheckOptions options;
  options.levels = {session_serializable};
  options.budget = Budget(0, 0, 1'000'000);
  EXPECT_EQ(check(history, options).find(session_serializable)->outcome, Outcome::satisfied);
}

}  // namespace
}  // namespace assay::internal
