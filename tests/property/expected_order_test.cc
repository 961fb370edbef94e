// Replayed orders against the oracle: a history is serializable iff some order of its transactions
// explains it, and whatever start and commit times explain satisfies snapshot isolation.
#include "levels/expected_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "assay/format.h"
#include "assay/verify.h"
#include "cases.h"
#include "levels/walk.h"
#include "oracle/oracle.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using enum LevelId;

ExpectedReplays replay(const History& h, const ExpectedOrder& order) {
  Budget unlimited;
  return replay_expected_order(make_problem(h), order, {}, unlimited);
}

bool explains(const ExpectedReplays& all, LevelId level) {
  return std::ranges::any_of(all.replays, [level](const ExpectedReplay& r) {
    return r.result.level == level && r.result.fault == OrderReplay::Fault::none;
  });
}

void expect_certified(const History& h, const ExpectedOrder& order, LevelId level) {
  CheckOptions options;
  options.levels = {level};
  options.expected_order = order;
  const CheckResult result = decide_levels(h, options);
  ASSERT_EQ(result.verdicts[0].outcome, Outcome::satisfied) << result.verdicts[0].reason;
  const Status status = verify(result.certificates[result.verdicts[0].certificate], h);
  EXPECT_TRUE(status.ok()) << status.error().to_string();
}

// Tries every order of those that committed and of each set of those that may have.
bool some_order_explains(const History& h, ExpectedOrder& found, bool& obstacle) {
  std::vector<TxnId> committed, unknown;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) == TxnStatus::committed) committed.push_back(t);
    if (h.status(t) == TxnStatus::unknown) unknown.push_back(t);
  }
  for (uint32_t set = 0; set < (1u << unknown.size()); ++set) {
    std::vector<TxnId> order = committed;
    for (size_t i = 0; i < unknown.size(); ++i)
      if ((set >> i & 1) != 0) order.push_back(unknown[i]);
    std::sort(order.begin(), order.end());
    do {
      found = {ExpectedOrder::By::listed, {}, "test"};
      for (const TxnId t : order) found.names.push_back(h.name(t));
      const ExpectedReplays all = replay(h, found);
      // Somebody read from one that was left out.
      const bool left_out = all.obstacle.ends_with("has no place in it");
      obstacle = obstacle || (!all.obstacle.empty() && !left_out);
      if (explains(all, serializable)) return true;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return false;
}

TEST(ExpectedOrder, SomeOrderExplainsIffSerializable) {
  Rng rng(rotated(7));
  RandomShape shape;
  shape.max_txns = 5;
  uint64_t satisfied = 0, violated = 0;
  const uint64_t rounds = scaled(4000, 400);
  for (uint64_t i = 0; i < rounds; ++i) {
    shape.duplicates = i % 4 == 1 ? 1 : 0;
    shape.lists = i % 4 == 2 ? 1 : 0;
    shape.rich = i % 4 == 3 ? 1 : 0;
    shape.predicates = i % 8 == 3 ? 0.5 : 0;
    const Draft draft = random_draft(rng, shape);
    const Result<History> history = draft.history();
    ASSERT_TRUE(history.ok());
    const Outcome truth = oracle::decide(*history, serializable);
    ExpectedOrder order;
    bool obstacle = false;
    const bool explained = some_order_explains(*history, order, obstacle);
    ASSERT_FALSE(obstacle) << draft.text();
    ASSERT_EQ(explained, truth == Outcome::satisfied) << draft.text();
    if (explained) expect_certified(*history, order, serializable);
    ++(explained ? satisfied : violated);
  }
  EXPECT_GT(satisfied, rounds / 8);
  EXPECT_GT(violated, rounds / 8);
}

TEST(ExpectedOrder, TimesThatExplainSatisfySnapshotIsolation) {
  Rng rng(rotated(11));
  RandomShape shape;
  shape.max_txns = 5;
  uint64_t explained = 0, rejected = 0, by_sessions = 0;
  const uint64_t rounds = scaled(60000, 6000);
  for (uint64_t i = 0; i < rounds; ++i) {
    Draft draft = random_draft(rng, shape);
    for (DraftTxn& t : draft.txns) {
      if (t.status == TxnStatus::unknown && rng.chance(0.5)) continue;
      t.start_ts = static_cast<int64_t>(rng.below(8));
      t.commit_ts = t.start_ts + static_cast<int64_t>(rng.below(4));
    }
    const Result<History> history = draft.history();
    ASSERT_TRUE(history.ok());
    const ExpectedOrder order;  // commit_ts
    const ExpectedReplays all = replay(*history, order);
    for (const LevelId level : {serializable, session_si, adya_si}) {
      if (!explains(all, level)) continue;
      ASSERT_EQ(oracle::decide(*history, level), Outcome::satisfied) << draft.text();
    }
    const bool si = explains(all, session_si) || explains(all, adya_si);
    if (si && explained % 16 == 0)
      expect_certified(*history, order, explains(all, session_si) ? session_si : adya_si);
    ++(si ? explained : rejected);
    if (explains(all, adya_si)) ++by_sessions;
  }
  EXPECT_GT(explained, rounds / 120);
  EXPECT_GT(rejected, rounds / 120);
  EXPECT_GT(by_sessions, rounds / 3000);
}

using Fault = OrderReplay::Fault;

// One order of one history.
struct Replayed {
  History history;
  ExpectedReplays all;
  const OrderReplay& at(size_t i) const { return all.replays.at(i).result; }
  std::string name(TxnId t) const { return t == kNone ? "nobody" : history.name(t); }
};

Replayed replayed(std::string_view text, std::string_view path, const ExpectedOrder& order) {
  Result<ReadResult> read = read_history_text(text, std::string(path));
  EXPECT_TRUE(read.ok()) << read.error().to_string();
  ExpectedReplays all = replay(read->history, order);
  return {std::move(read->history), std::move(all)};
}

Replayed listed(std::string_view text, std::vector<std::string> names) {
  return replayed(text, "test.hist", {ExpectedOrder::By::listed, std::move(names), "test"});
}

// A line of a history of transactions that each are a session, with their times.
std::string timed(std::string_view name, int64_t start, int64_t commit, std::string_view ops,
                  int64_t session = 0) {
  const int64_t s = session != 0 ? session : name[0];
  return "{\"session\":" + std::to_string(s) + ",\"txn\":\"" + std::string(name) +
         "\",\"status\":\"committed\",\"start_ts\":" + std::to_string(start) +
         ",\"commit_ts\":" + std::to_string(commit) + ",\"ops\":[" + std::string(ops) + "]}\n";
}

Replayed by_times(const std::string& text) { return replayed(text, "test.jsonl", {}); }

TEST(ExpectedOrder, NamesTheFirstOperationAndWhatStoodThere) {
  const Replayed r = listed(
      "s1: { w(x,1) }\n"
      "s2: { w(y,2) }\n"
      "s3: { r(x,1) r(y,null) }\n",
      {"s1-0", "s2-0", "s3-0"});
  ASSERT_EQ(r.all.replays.size(), 1u);
  EXPECT_EQ(r.at(0).level, serializable);
  EXPECT_EQ(r.at(0).fault, Fault::operation);
  EXPECT_EQ(r.name(r.at(0).txn), "s3-0");
  EXPECT_EQ(r.at(0).op, 3u);
  EXPECT_EQ(r.name(r.at(0).other), "s2-0");
}

TEST(ExpectedOrder, AnotherOrderExplainsTheSame) {
  const Replayed r = listed(
      "s1: { w(x,1) }\n"
      "s2: { w(y,2) }\n"
      "s3: { r(x,1) r(y,null) }\n",
      {"s1-0", "s3-0", "s2-0"});
  ASSERT_EQ(r.all.replays.size(), 1u);
  EXPECT_EQ(r.at(0).fault, Fault::none);
  EXPECT_EQ(r.all.replays[0].order.events, (std::vector<uint32_t>{0, 2, 1}));
}

TEST(ExpectedOrder, OnlyLastAndOwnWritesAreSeen) {
  const std::string_view overwritten = "s1: { w(x,1) w(x,2) }\ns2: { r(x,1) }\n";
  EXPECT_EQ(listed(overwritten, {"s1-0", "s2-0"}).at(0).fault, Fault::operation);
  const std::string_view own = "s1: { w(x,1) r(x,1) }\n";
  EXPECT_EQ(listed(own, {"s1-0"}).at(0).fault, Fault::none);
  const std::string_view aborted = "s1: { w(x,1) }!\ns2: { r(x,1) }\n";
  EXPECT_EQ(listed(aborted, {"s2-0"}).at(0).fault, Fault::operation);
}

TEST(ExpectedOrder, EveryKindOfOperationIsReplayed) {
  const std::string_view text =
      "s1: { a(l,1) ins(x,1) }\n"
      "s2: { r(l,[1]) cas(x,1,2) a(l,2) r(l,[1,2]) }\n"
      "s3: { range(a..z,[x=2]) d(x,9) r(x,null) }\n";
  const Replayed lists = listed(text, {"s1-0", "s2-0", "s3-0"});
  EXPECT_EQ(lists.all.obstacle, "transaction s3-0 reads a range with lists in it");
  const std::string_view plain =
      "s1: { ins(x,1) }\n"
      "s2: { cas(x,1,2) cas(x,1,3)! ins(x,4)! }\n"
      "s3: { range(a..z,[x=2]) d(x,9) r(x,null) ins(x,5) }\n";
  EXPECT_EQ(listed(plain, {"s1-0", "s2-0", "s3-0"}).at(0).fault, Fault::none);
  EXPECT_EQ(listed(plain, {"s1-0", "s3-0", "s2-0"}).at(0).fault, Fault::operation);
}

TEST(ExpectedOrder, WhoeverWroteNothingNeedsNoPlace) {
  const Replayed r = listed(
      "s1: { w(x,1) }\n"
      "s2: { w(x,2) }\n"
      "s3: { r(x,1) }\n",
      {"s1-0", "s2-0"});
  EXPECT_EQ(r.at(0).fault, Fault::none);
  EXPECT_EQ(r.all.replays[0].order.events, (std::vector<uint32_t>{0, 2, 1}));
}

TEST(ExpectedOrder, WhatCannotBeReplayedIsSaid) {
  const std::string_view text = "s1: { w(x,1) }\ns2: { w(x,2) }!\n";
  EXPECT_EQ(listed(text, {}).all.obstacle, "transaction s1-0 has no place in it");
  EXPECT_EQ(listed(text, {"s1-0", "s2-0"}).all.obstacle, "it names s2-0, which aborted");
  EXPECT_EQ(listed(text, {"s1-0", "s1-0"}).all.obstacle, "it names s1-0 twice");
  EXPECT_EQ(listed(text, {"s1-0", "s9-0"}).all.obstacle,
            "it names s9-0, and the history has no transaction of that name");
  EXPECT_EQ(by_times(timed("A", 5, 3, R"(["w","x",1])")).all.obstacle,
            "transaction A has a commit_ts before its start_ts");
}

TEST(ExpectedOrder, SnapshotsAreOfTheStart) {
  // Write skew: both started before either committed.
  const Replayed r = by_times(timed("A", 1, 3, R"(["r","x",null],["w","y",1])") +
                              timed("B", 2, 4, R"(["r","y",null],["w","x",1])"));
  ASSERT_EQ(r.all.replays.size(), 2u);
  EXPECT_EQ(r.at(0).fault, Fault::operation);
  EXPECT_EQ(r.at(1).level, session_si);
  EXPECT_EQ(r.at(1).fault, Fault::none);
}

TEST(ExpectedOrder, AtTheSameTimeACommitComesBeforeAStart) {
  const Replayed r =
      by_times(timed("A", 1, 2, R"(["w","x",1])") + timed("B", 2, 3, R"(["r","x",1],["w","x",2])"));
  EXPECT_EQ(r.at(1).fault, Fault::none);
}

TEST(ExpectedOrder, WritersOfAKeyDoNotOverlap) {
  const Replayed r =
      by_times(timed("A", 1, 3, R"(["w","x",1])") + timed("B", 2, 4, R"(["w","x",2])"));
  EXPECT_EQ(r.at(1).fault, Fault::overlap);
  EXPECT_EQ(r.name(r.at(1).txn), "B");
  EXPECT_EQ(r.name(r.at(1).other), "A");
}

TEST(ExpectedOrder, ASessionWaitsForItself) {
  const Replayed r =
      by_times(timed("A", 1, 3, R"(["w","x",1])", 7) + timed("B", 2, 4, R"(["w","y",2])", 7));
  ASSERT_EQ(r.all.replays.size(), 3u);
  EXPECT_EQ(r.at(1).fault, Fault::session);
  EXPECT_EQ(r.name(r.at(1).txn), "B");
  EXPECT_EQ(r.at(2).level, adya_si);
  EXPECT_EQ(r.at(2).fault, Fault::none);
}

}  // namespace
}  // namespace assay::internal
