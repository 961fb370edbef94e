#include "infer/replay_by_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/rng.h"
#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::kUnknown;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;
using Txns = std::vector<TxnId>;

Txns order_of(const History& h, LevelId level = strict_serializable) {
  Budget budget;
  return order_by_value(h, level_info(level), budget);
}

// The definition, for values that are written once.
bool explains(const History& h, const LevelInfo& level, const Txns& order) {
  std::vector<VersionId> held(h.key_count(), kNone);
  int64_t latest_begin = Interval::kUnknown;
  std::vector<uint32_t> position(h.session_count(), 0);
  for (const TxnId t : order) {
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Operation op = h.op(i);
      VersionId& now = held[op.key];
      if (installs_version(op))
        now = op.version;
      else if (now == kNone ? !h.is_initial(op.version) : now != op.version)
        return false;
    }
    if (level.real_time != RealTime::none && h.status(t) == TxnStatus::committed &&
        h.end_time(t).response < latest_begin)
      return false;
    latest_begin = std::max(latest_begin, h.begin_time(t).request);
    if (level.session_order && h.position(t) < std::exchange(position[h.session(t)], h.position(t)))
      return false;
  }
  return true;
}

TEST(ReplayByValue, WaitsForWhatIsRead) {
  EXPECT_EQ(order_of(make_history({{1, {r("x", 1)}}, {2, {w("x", 1)}}}), session_serializable),
            (Txns{1, 0}));
  EXPECT_EQ(order_of(make_history({{1, {r("x", kNull), w("x", 1)}}, {2, {r("x", 1), r("x", 1)}}}),
                     session_serializable),
            (Txns{0, 1}));
}

TEST(ReplayByValue, AWriteWaitsForReadersOfWhatItReplaces) {
  EXPECT_EQ(order_of(make_history({{.session = 1, .ops = {w("x", 1)}, .begin = 1, .end = 10},
                                   {.session = 2, .ops = {r("x", kNull)}, .begin = 5, .end = 12}})),
            (Txns{1, 0}));
}

TEST(ReplayByValue, KeepsRealTime) {
  const std::vector<sample::Txn> txns = {
      {.session = 1, .ops = {w("x", 1)}, .begin = 1, .end = 10},
      {.session = 2, .ops = {r("x", kNull)}, .begin = 11, .end = 12}};
  EXPECT_EQ(order_of(make_history(txns)), Txns{});
  EXPECT_EQ(order_of(make_history(txns), session_serializable), (Txns{1, 0}));
}

// One that ended long ago cannot take effect: it read what comes late, by the clock.
TEST(ReplayByValue, WithoutRealTimeOneMayStayBehind) {
  std::vector<sample::Txn> txns = {{.session = 1, .ops = {r("x", 99)}, .begin = 1, .end = 2}};
  for (int64_t i = 1; i < 100; ++i)
    txns.push_back({.session = 2, .ops = {w("x", i)}, .begin = 10 * i, .end = 10 * i + 5});
  const History h = make_history(txns);
  EXPECT_EQ(order_of(h), Txns{});
  const Txns order = order_of(h, session_serializable);
  ASSERT_EQ(order.size(), h.txn_count());
  EXPECT_EQ(order.back(), 0u);
}

// The order of their ends is the wrong one, which only a reader shows that came later.
TEST(ReplayByValue, OverlappingWritersAreTurned) {
  const auto three = [](sample::SampleOp second) {
    return make_history({{.session = 1, .ops = {w("x", 1)}, .begin = 1, .end = 10},
                         {.session = 2, .ops = {second, w("x", 2)}, .begin = 2, .end = 12},
                         {.session = 3, .ops = {r("x", 1)}, .begin = 20, .end = 25}});
  };
  EXPECT_EQ(order_of(three(r("y", kNull))), (Txns{1, 0, 2}));
  EXPECT_EQ(order_of(three(r("x", 1))), Txns{});  // it read what the first wrote
}

TEST(ReplayByValue, FindsNothingWhereValuesDoNotTell) {
  // Written twice, read and never written, not what the transaction itself wrote, two values of one
  // key.
  EXPECT_EQ(order_of(make_history({{1, {w("x", 1)}}, {2, {w("x", 1)}}}), serializable), Txns{});
  EXPECT_EQ(order_of(make_history({{1, {r("x", 1)}}}), serializable), Txns{});
  EXPECT_EQ(order_of(make_history({{1, {w("x", 1), r("x", kNull)}}}), serializable), Txns{});
  EXPECT_EQ(
      order_of(make_history({{1, {w("x", 1)}}, {2, {r("x", kNull), r("x", 1)}}}), serializable),
      Txns{});
  EXPECT_FALSE(may_replay_by_value(make_history({{1, {sample::cas("x", kNull, 1, true)}}})));
}

// The order of x, of which nothing is stated, is said to be complete, and lacks what was written.
TEST(ReplayByValue, LeavesStatedOrdersToOthers) {
  HistoryBuilder b;
  b.begin_txn({.session = sample::v(1)});
  b.add(Op::write(sample::v("x"), sample::v(1)));
  ASSERT_TRUE(b.end_txn().ok());
  b.event(10, R"({"event":"complete","at":10})", true);
  const auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  EXPECT_FALSE(may_replay_by_value(*h));
  EXPECT_FALSE(may_replay_by_value(make_history({{1, {w("x", 1)}}}, {{"x", {1}}})));
}

TEST(ReplayByValue, OfUnknownOutcomeTakesEffectIfItWasRead) {
  const std::vector<sample::Txn> txns = {{.session = 1, .ops = {w("x", 1)}, .status = kUnknown},
                                         {.session = 1, .ops = {w("y", 1)}, .status = kUnknown},
                                         {.session = 2, .ops = {r("x", 1)}}};
  EXPECT_EQ(order_of(make_history(txns), serializable), (Txns{0, 2}));
}

// Of a database that does one transaction after the other, at a moment that clients do not know.
History serial_run(uint64_t seed) {
  Rng rng(seed);
  const int64_t sessions = rng.between(2, 8), keys = rng.between(10, 60);
  std::vector<int64_t> free_at(static_cast<size_t>(sessions), 0);
  std::vector<sample::Value> held(static_cast<size_t>(keys), kNull);
  std::vector<sample::Txn> txns;
  int64_t value = 0;
  for (int64_t moment = 20; moment < 20 * 200; moment += 10) {
    const auto session = static_cast<size_t>(rng.between(0, sessions - 1));
    if (free_at[session] >= moment) continue;
    sample::Txn txn{.session = static_cast<int64_t>(session)};
    txn.begin = std::max(free_at[session] + 1, moment - rng.between(0, 40));
    txn.end = moment + rng.between(0, 40);
    free_at[session] = txn.end;
    for (int64_t ops = rng.between(1, 3); ops > 0; --ops) {
      const auto k = static_cast<size_t>(rng.between(0, keys - 1));
      const std::string key = "k" + std::to_string(k);
      if (rng.below(2) == 0)
        txn.ops.push_back(r(key, held[k]));
      else
        txn.ops.push_back(w(key, *(held[k] = ++value)));
    }
    txns.push_back(std::move(txn));
  }
  std::ranges::sort(txns, {}, &sample::Txn::end);
  return make_history(txns);
}

TEST(ReplayByValue, AcceptsMostOfWhatASerialDatabaseDid) {
  std::map<LevelId, int> accepted;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const History h = serial_run(seed);
    for (const LevelId level : {strict_serializable, session_serializable}) {
      const Txns order = order_of(h, level);
      if (order.empty()) continue;
      ++accepted[level];
      ASSERT_EQ(order.size(), h.txn_count()) << seed;
      ASSERT_TRUE(explains(h, level_info(level), order)) << seed;
    }
  }
  EXPECT_GT(accepted[strict_serializable], 350) << "of 400";
  EXPECT_GE(accepted[session_serializable], accepted[strict_serializable]);
}

}  // namespace
}  // namespace assay::internal
