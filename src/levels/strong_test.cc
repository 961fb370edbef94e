#include "levels/strong.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "history/test_history.h"
#include "levels/proof_shape.h"
#include "oracle/random_history.h"

namespace assay::internal {
namespace {

using sample::expect_proof_shape;
using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;

struct Decided {
  History history;
  Problem problem = make_problem(history);
  CheckOptions options{};
  Stages stages{};
  Budget budget{};

  explicit Decided(const std::vector<sample::Txn>& txns,
                   const std::vector<sample::Stated>& stated = {})
      : history(make_history(txns, stated)) {}
  explicit Decided(History h) : history(std::move(h)) {}
  Judgement replay(LevelId level) {
    return accept_by_replay(problem, level_info(level), options, stages, budget);
  }
  Judgement decide(LevelId level) {
    Judgement v = decide_strong(problem, level_info(level), options, stages, budget);
    if (v.outcome() == Outcome::violated) expect_proof_shape(v.certificate.proof);
    return v;
  }
};

Outcome outcome(const std::vector<sample::Txn>& txns, LevelId level,
                const std::vector<sample::Stated>& stated = {}) {
  return Decided(txns, stated).decide(level).outcome();
}

const std::vector<sample::Txn> kLostUpdateOfNull = {{1, {r("x", kNull), w("x", 1)}},
                                                    {2, {r("x", kNull), w("x", 2)}}};
const std::vector<sample::Txn> kWriteSkew = {{1, {r("x", kNull), w("y", 1)}},
                                             {2, {r("y", kNull), w("x", 1)}}};
const std::vector<sample::Txn> kLongFork = {{1, {w("x", 1)}},
                                            {2, {w("y", 1)}},
                                            {3, {r("x", 1), r("y", kNull)}},
                                            {4, {r("x", kNull), r("y", 1)}}};
const std::vector<sample::Txn> kStaleSession = {{1, {w("x", 1)}}, {1, {r("x", kNull)}}};

TEST(Strong, ALostUpdateIsAllowedByPrefixAlone) {
  EXPECT_EQ(outcome(kLostUpdateOfNull, prefix), Outcome::satisfied);
  EXPECT_EQ(outcome(kLostUpdateOfNull, adya_si), Outcome::violated);
  EXPECT_EQ(outcome(kLostUpdateOfNull, session_si), Outcome::violated);
  EXPECT_EQ(outcome(kLostUpdateOfNull, serializable), Outcome::violated);
}

TEST(Strong, AWriteSkewIsAllowedBySnapshots) {
  EXPECT_EQ(outcome(kWriteSkew, session_si), Outcome::satisfied);
  EXPECT_EQ(outcome(kWriteSkew, serializable), Outcome::violated);
}

TEST(Strong, ALongForkIsAllowedByNone) {
  EXPECT_EQ(outcome(kLongFork, prefix), Outcome::violated);
  EXPECT_EQ(outcome(kLongFork, adya_si), Outcome::violated);
  EXPECT_EQ(outcome(kLongFork, serializable), Outcome::violated);
}

TEST(Strong, OnlySessionLevelsMindASessionThatForgets) {
  EXPECT_EQ(outcome(kStaleSession, adya_si), Outcome::satisfied);
  EXPECT_EQ(outcome(kStaleSession, serializable), Outcome::satisfied);
  EXPECT_EQ(outcome(kStaleSession, session_si), Outcome::violated);
  EXPECT_EQ(outcome(kStaleSession, session_serializable), Outcome::violated);
}

TEST(Strong, RealTimeIsStrictlyBefore) {
  const auto stale = [](int64_t read_at) {
    return std::vector<sample::Txn>{{1, {w("x", 1)}, TxnStatus::committed, 10, 20},
                                    {2, {r("x", kNull)}, TxnStatus::committed, read_at, 40}};
  };
  EXPECT_EQ(outcome(stale(20), strict_serializable), Outcome::satisfied);
  EXPECT_EQ(outcome(stale(21), strict_serializable), Outcome::violated);
  EXPECT_EQ(outcome(stale(21), strong_si), Outcome::violated);
  EXPECT_EQ(outcome(stale(21), generalized_si), Outcome::satisfied);
}

TEST(Strong, StatedVersionOrdersAreFacts) {
  const std::vector<sample::Txn> txns = {
      {1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {r("x", 1)}}, {3, {r("x", 2)}}};
  EXPECT_EQ(outcome(txns, session_serializable), Outcome::satisfied);
  EXPECT_EQ(outcome(txns, session_serializable, {{"x", {1, 2}}}), Outcome::satisfied);
  EXPECT_EQ(outcome(txns, session_serializable, {{"x", {2, 1}}}), Outcome::violated);
  EXPECT_EQ(outcome(txns, serializable, {{"x", {2, 1}}}), Outcome::satisfied);
  const Proof proof = Decided(txns, {{"x", {2, 1}}}).decide(session_serializable).certificate.proof;
  EXPECT_TRUE(std::any_of(proof.steps.begin(), proof.steps.end(), [](const ProofStep& step) {
    return step.kind == ProofStep::Kind::fact && step.clause == std::vector<Literal>{{1, 0}};
  }));
}

TEST(Strong, AnOrderHoldsStatedVersionOrdersToo) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}}, {2, {w("x", 2)}}};
  EXPECT_EQ(Decided(txns, {{"x", {2, 1}}}).decide(serializable).certificate.order.events,
            (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(Decided(txns, {{"x", {1, 2}}}).decide(serializable).certificate.order.events,
            (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(Decided(txns, {{"x", {2, 1}}}).replay(serializable).certificate.order.events,
            (std::vector<uint32_t>{1, 0}));
  // By the clock 1 came first: a replay that ignores the stated orders is no order that holds
  // it.
  const std::vector<sample::Txn> timed = {{1, {w("x", 1)}, TxnStatus::committed, 1, 2},
                                          {2, {w("x", 2)}, TxnStatus::committed, 3, 4}};
  for (const bool keeps : {true, false}) {
    Decided s(timed, {{"x", {2, 1}}});
    s.options.speed_ups.set(SpeedUp::stated_replay, keeps);
    EXPECT_EQ(s.replay(serializable).outcome(), keeps ? Outcome::satisfied : Outcome::unknown);
    EXPECT_EQ(s.decide(serializable).outcome(), Outcome::satisfied);
  }
}

TEST(Strong, ReplayAcceptsOrSaysNothing) {
  EXPECT_EQ(Decided(kWriteSkew).replay(session_si).outcome(), Outcome::satisfied);
  EXPECT_EQ(Decided(kWriteSkew).replay(serializable).outcome(), Outcome::unknown);
}

TEST(Strong, OrdersNameTransactionsAndSkipAbortedOnes) {
  Decided s({{1, {w("x", 1)}, TxnStatus::aborted}, {2, {w("x", 2)}}});
  const Order single = s.decide(serializable).certificate.order;
  EXPECT_FALSE(single.split);
  EXPECT_EQ(single.events, (std::vector<uint32_t>{1}));
  const Order split = s.decide(session_si).certificate.order;
  EXPECT_TRUE(split.split);
  EXPECT_EQ(split.events, (std::vector<uint32_t>{2, 3}));
}

// T4 of a session reads what was there before its session wrote anything.
const std::vector<sample::Txn> kOldRead = {
    {1, {w("x", 1)}}, {1, {w("y", 1)}}, {1, {w("z", 1)}}, {1, {w("y", 2)}}, {1, {r("x", kNull)}}};

TEST(Strong, SessionOrderThatIsOnlyAssumedRefutesNothing) {
  for (const bool assumed : {false, true}) {
    for (const LevelId level : {adya_si, serializable}) {
      Decided s(kOldRead);
      s.options.speed_ups.set(SpeedUp::assumed_sessions, assumed);
      EXPECT_EQ(s.decide(level).outcome(), Outcome::satisfied);
    }
    // The same, where the versions of x are in an order that has to be found.
    std::vector<sample::Txn> txns = kOldRead;
    txns[0].ops.push_back(w("u", 1));
    txns.push_back({2, {w("x", 2), w("u", 2)}});
    txns[4] = {1, {r("x", 2)}};
    txns.push_back({3, {r("u", 1)}});
    Decided s(txns);
    s.options.speed_ups.set(SpeedUp::assumed_sessions, assumed);
    EXPECT_EQ(s.decide(adya_si).outcome(), Outcome::satisfied);
  }
}

TEST(Strong, AViolationIsFoundBehindAssumedSessions) {
  std::vector<sample::Txn> txns = kOldRead;
  for (const sample::Txn& txn : kLongFork) {
    txns.push_back(txn);
    txns.back().session += 10;
    for (auto& op : txns.back().ops) op.key = "fork " + op.key;
  }
  for (const LevelId level : {adya_si, serializable})
    EXPECT_EQ(outcome(txns, level), Outcome::violated);
}

// Histories of a database without sessions. One transaction in the middle has an old read;
// `others`: it also reads other keys, and sees their latest versions.
std::vector<sample::Txn> with_an_old_read(bool others) {
  constexpr int kTxns = 3000, kSessions = 20, kKeys = 200, kBack = 3;
  Rng rng(11);
  std::vector<std::vector<int>> versions(kKeys, {0});
  bool to_come = true;
  std::vector<sample::Txn> txns;
  for (int i = 1; i <= kTxns; ++i) {
    sample::Txn& txn = txns.emplace_back();
    txn.session = 1 + static_cast<int>(rng.below(kSessions));
    const bool reads = rng.chance(0.5);
    std::set<uint64_t> keys;
    while (keys.size() < 4) keys.insert(rng.below(kKeys));
    for (const uint64_t key : keys) {
      const std::string name = "k" + std::to_string(key);
      std::vector<int>& all = versions[key];
      const bool old = to_come && reads && i > kTxns / 2 && all.size() > kBack;
      to_come = to_come && !old;
      const int seen = old ? all[all.size() - 1 - kBack] : all.back();
      if (!reads) all.push_back(i);
      txn.ops.push_back(!reads ? w(name, i) : seen == 0 ? r(name, kNull) : r(name, seen));
      if (!old || others) continue;
      txn.ops.erase(txn.ops.begin(), txn.ops.end() - 1);
      break;
    }
  }
  return txns;
}

uint64_t conflicts_of(Decided& s) {
  const auto counters = s.stages.take_counters();
  const auto conflicts =
      std::ranges::find(counters, "conflicts", [](const auto& c) { return c.first; });
  return conflicts == counters.end() ? 0 : conflicts->second;
}

// Assumptions are decided before all choices. Otherwise the search would try every order of writers
// that no read tells apart.
TEST(Strong, OneOldReadLeavesOtherSessionsAssumed) {
  Decided s(with_an_old_read(false));
  EXPECT_EQ(s.decide(serializable).outcome(), Outcome::satisfied);
  const uint64_t conflicts = conflicts_of(s);
  EXPECT_GT(conflicts, 0u);
  EXPECT_LT(conflicts, 1000u);
}

// No order serves both reads. The search alone meets more conflicts than are allowed here.
TEST(Strong, OneOldReadIsRefutedBySaturationWithoutSessions) {
  for (const LevelId level : {adya_si, serializable}) {
    Decided s(with_an_old_read(true));
    EXPECT_EQ(s.decide(level).outcome(), Outcome::violated);
    EXPECT_LT(conflicts_of(s), 2000u);
  }
}

// Transactions one after the other, in sessions of one and listed in a random order.
TEST(Strong, TransactionsThatOnlyReadsPlaceNeedFewConflicts) {
  constexpr int64_t kTxns = 8500;
  constexpr size_t kKeys = 850;
  Rng rng(3);
  std::vector<sample::Value> now(kKeys, sample::kNull);
  std::vector<sample::Txn> txns;
  for (int64_t t = 0; t < kTxns; ++t) {
    sample::Txn& txn = txns.emplace_back(sample::Txn{t + 1});
    for (int64_t i = 0; i < 8; ++i) {
      const size_t key = rng.below(kKeys);
      if (i >= 4) now[key] = 10 * t + i;
      const std::string name = "k" + std::to_string(key);
      txn.ops.push_back(i < 4 ? r(name, now[key]) : w(name, *now[key]));
    }
  }
  for (size_t i = txns.size(); i > 1; --i) std::swap(txns[i - 1], txns[rng.below(i)]);
  uint64_t conflicts[2] = {};
  for (const bool places : {false, true}) {
    Decided s(txns);
    s.options.speed_ups.set(SpeedUp::places, places);
    EXPECT_EQ(s.decide(session_si).outcome(), Outcome::satisfied);
    conflicts[places] = conflicts_of(s);
  }
  EXPECT_LT(2 * conflicts[true], conflicts[false]);
}

TEST(Strong, TwoUpdatesOfOneVersionAreRefutedWithoutSearch) {
  const std::vector<sample::Txn> txns = {
      {1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}, {3, {r("x", 1), w("x", 3)}}};
  for (const bool facts : {false, true}) {
    for (const LevelId level : {adya_si, session_si, serializable}) {
      Decided s(txns);
      s.options.speed_ups.set(SpeedUp::update_facts, facts);
      EXPECT_EQ(s.decide(level).outcome(), Outcome::violated);
      const auto counters = s.stages.take_counters();
      const bool searched = std::any_of(counters.begin(), counters.end(),
                                        [](const auto& c) { return c.first == "choices"; });
      EXPECT_NE(searched, facts);
    }
  }
}

TEST(Strong, WithoutLazyChoicesAllPairsOfWritersAreChosenAtOnce) {
  const auto choices = [](bool lazy, bool saturates) {
    Decided d({{1, {w("x", 1), w("y", 1)}},
               {2, {w("x", 2), w("y", 2)}},
               {2, {w("x", 3)}},
               {3, {r("x", 1), w("x", 4)}},
               {4, {w("z", 1)}}});
    d.options.speed_ups.set(SpeedUp::lazy_choices, lazy);
    d.options.speed_ups.set(SpeedUp::saturation, saturates);
    EXPECT_EQ(d.decide(session_si).outcome(), Outcome::satisfied);
    uint64_t made = 0;
    for (const auto& [name, count] : d.stages.take_counters())
      if (name == "choices") made += count;
    return made;
  };
  EXPECT_EQ(choices(true, false), 2u);
  EXPECT_EQ(choices(false, false), 4u);  // session and update order two of the six pairs
}

TEST(Strong, WithoutABudgetThereIsNoAnswer) {
  Decided s(kWriteSkew);
  s.budget = Budget(0, 1);
  const Judgement v = s.decide(session_si);
  EXPECT_EQ(v.outcome(), Outcome::unknown);
  EXPECT_EQ(v.reason, s.budget.reason());
  EXPECT_FALSE(v.reason.empty());
}

// Lets events happen in every way the definition allows; true if all of them can.
class AllOrders {
 public:
  AllOrders(const Problem& problem, const LevelInfo& level)
      : problem_(problem),
        level_(level),
        split_(level.events == EventModel::split),
        read_(problem.nodes()),
        written_(problem.nodes()),
        current_(problem.keys(), kNone),
        open_(problem.keys(), kNone) {}

  bool possible() {
    bool all = true;
    for (Node n = 0; n < problem_.nodes(); ++n) {
      if (written_[n]) continue;
      all = false;
      if (read_[n] ? try_writes(n) : try_reads(n)) return true;
    }
    return all;
  }

  // True if the order is one of those.
  bool allows(const Order& order) {
    for (uint32_t event : order.events) {
      const Node n = problem_.node_of(split_ ? event / 2 : event);
      const bool reads = !split_ || event % 2 == 0;
      if (reads && !may_read(n)) return false;
      if (reads) do_read(n);
      if (!split_ || !reads) do_write(n);
    }
    return std::all_of(written_.begin(), written_.end(), [](uint8_t done) { return done != 0; });
  }

 private:
  bool may_read(Node n) const {
    for (const ExternalRead& read : problem_.reads[n]) {
      if (current_[read.key] != read.write) return false;
    }
    for (WriteId w = problem_.writes.begin[n];
         w < problem_.writes.begin[n + 1] && level_.write_conflict; ++w) {
      if (open_[problem_.writes.key[w]] != kNone) return false;
    }
    if (!level_.session_order) return true;
    for (const std::vector<Node>& session : problem_.sessions) {
      const auto at = std::find(session.begin(), session.end(), n);
      if (at != session.end() && at != session.begin()) return written_[*(at - 1)] != 0;
    }
    return true;
  }
  void do_read(Node n) {
    read_[n] = 1;
    for (const WriteId w : problem_.writes.of(n)) open_[problem_.writes.key[w]] = n;
  }
  void do_write(Node n) {
    written_[n] = 1;
    for (const WriteId w : problem_.writes.of(n)) {
      current_[problem_.writes.key[w]] = w;
      open_[problem_.writes.key[w]] = kNone;
    }
  }
  bool try_reads(Node n) {
    if (!may_read(n)) return false;
    const AllOrders before = *this;
    do_read(n);
    if (!split_) do_write(n);
    const bool found = possible();
    restore(before);
    return found;
  }
  bool try_writes(Node n) {
    const AllOrders before = *this;
    do_write(n);
    const bool found = possible();
    restore(before);
    return found;
  }
  void restore(const AllOrders& before) {
    read_ = before.read_;
    written_ = before.written_;
    current_ = before.current_;
    open_ = before.open_;
  }

  const Problem& problem_;
  const LevelInfo& level_;
  bool split_;
  std::vector<uint8_t> read_, written_;
  std::vector<WriteId> current_;
  std::vector<Node> open_;  // per key: the writer that has begun
};

TEST(Strong, AgreesWithTryingAllOrdersWhateverTheSpeedUps) {
  Rng rng(51);
  int satisfied = 0;
  int violated = 0;
  for (const LevelId level : {prefix, adya_si, session_si, serializable, session_serializable}) {
    for (int round = 0; round < 300; ++round) {
      RandomShape shape = sample::plain(3, 6, 3, 3);
      shape.timed = 0;  // without the clock, orders have to be searched for
      Decided s(sample::random_history(rng, shape));
      if (s.problem.found.bad_read.anomaly != Anomaly::none) continue;
      const bool possible = AllOrders(s.problem, level_info(level)).possible();
      ++(possible ? satisfied : violated);
      for (const bool saturation : {false, true}) {
        for (const bool early : {false, true}) {
          s.options.speed_ups.set(SpeedUp::saturation, saturation);
          s.options.speed_ups.set(SpeedUp::early_search, early);
          s.options.speed_ups.set(SpeedUp::local_search, early != saturation);
          s.options.speed_ups.set(SpeedUp::update_facts, round % 2 == 0);
          s.options.speed_ups.set(SpeedUp::assumed_sessions, round % 4 < 2);
          const Judgement v = s.decide(level);
          ASSERT_EQ(v.outcome(), possible ? Outcome::satisfied : Outcome::violated)
              << level_info(level).name << ", round " << round;
          if (possible) {
            ASSERT_TRUE(AllOrders(s.problem, level_info(level)).allows(v.certificate.order));
          }
        }
      }
    }
  }
  EXPECT_GT(satisfied, 50);
  EXPECT_GT(violated, 50);
}

// All versions of each key, in the order of the history or in another one.
void state_all_orders(Draft& draft, Rng& rng) {
  std::map<int, DraftOrder> orders;
  for (const DraftTxn& txn : draft.txns)
    for (const DraftOp& op : txn.ops)
      if (op.kind == OpKind::write) orders[op.key].values.push_back(op.value.value_or(0));
  for (auto& [key, order] : orders) {
    order.key = key;
    for (size_t i = 1; i < order.values.size(); ++i)
      if (rng.chance(0.1)) std::swap(order.values[i - 1], order.values[i]);
    if (order.values.size() > 1) draft.orders.push_back(order);
  }
}

// Where all orders are stated nothing is left to choose.
TEST(Strong, WithAllOrdersStatedAReplayAcceptsWhateverTheLevelAllows) {
  Rng rng(71);
  RandomShape shape = sample::plain(4, 12, 4, 4);
  shape.timed = 1;
  int satisfied = 0, violated = 0, only_keeping = 0;
  for (int round = 0; round < 3000; ++round) {
    Draft draft = random_draft(rng, shape);
    state_all_orders(draft, rng);
    Result<History> history = draft.history();
    if (!history.ok()) continue;
    Decided s(std::move(*history));
    if (s.problem.found.bad_read.anomaly != Anomaly::none) continue;
    for (const LevelId level : {prefix, adya_si, session_si, strong_si, serializable,
                                session_serializable, strict_serializable}) {
      s.options.speed_ups.set(SpeedUp::stated_replay, true);
      const Judgement replayed = s.replay(level);
      s.options.speed_ups.set(SpeedUp::stated_replay, false);
      const Outcome expected = s.decide(level).outcome();
      ASSERT_EQ(replayed.outcome() == Outcome::satisfied, expected == Outcome::satisfied)
          << level_info(level).name << ", round " << round << "\n"
          << draft.text();
      ++(expected == Outcome::satisfied ? satisfied : violated);
      only_keeping +=
          expected == Outcome::satisfied && s.replay(level).outcome() != Outcome::satisfied;
    }
  }
  EXPECT_GT(satisfied, 500);
  EXPECT_GT(violated, 500);
  EXPECT_GT(only_keeping, 50);
}

}  // namespace
}  // namespace assay::internal
