#include "levels/weak.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/memory.h"
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
constexpr LevelId kWeak[] = {read_committed, read_atomic, causal};

Judgement decide(const History& history, LevelId level) {
  Budget budget;
  const Problem problem = make_problem(history);
  return WeakLevels(problem).decide(level, budget);
}

// Nobody waited for the first transaction of session 1, so what that session reads next says
// nothing of it; that of session 2 did.
TEST(WeakLevels, ASessionDoesNotGoOnBehindAnUnknownOutcome) {
  const auto outcome = [](TxnStatus status, LevelId level) {
    std::vector<sample::Txn> txns = {{1, {w("x", 1)}}, {1, {r("x", kNull)}}, {2, {r("x", 1)}}};
    txns[0].status = status;
    return decide(make_history(txns), level).outcome();
  };
  for (const LevelId level : {read_your_writes, read_atomic, causal}) {
    EXPECT_EQ(outcome(TxnStatus::unknown, level), Outcome::satisfied) << level_info(level).name;
    EXPECT_EQ(outcome(TxnStatus::committed, level), Outcome::violated) << level_info(level).name;
  }
  std::vector<sample::Txn> txns = {{1, {w("x", 1)}}, {1, {r("y", kNull)}}, {2, {r("x", 1)}}};
  const History committed = make_history(txns);
  EXPECT_TRUE(base_edge(make_problem(committed), level_info(causal), {0, 1}));
  txns[0].status = TxnStatus::unknown;
  const History unknown = make_history(txns);
  EXPECT_FALSE(base_edge(make_problem(unknown), level_info(causal), {0, 1}));
}

// Two of unknown outcome that saw nothing of each other: who saw the one has not seen the other. In
// a history so long that clocks are used, and both are on a chain somewhere.
TEST(WeakLevels, WhoSawOneUnknownOutcomeHasNotSeenAnother) {
  std::vector<sample::Txn> txns;
  for (int64_t i = 0; i < 300; ++i) txns.push_back({1, {w("z", i)}});
  for (const char* key : {"x", "y"})
    txns.push_back({txns.back().session + 1, {w(key, 1)}, TxnStatus::unknown});
  txns.push_back({4, {r("x", 1), r("y", kNull)}});
  txns.push_back({5, {r("y", 1), r("x", kNull)}});
  EXPECT_EQ(decide(make_history(txns), causal).outcome(), Outcome::satisfied);
  txns.push_back({4, {r("x", kNull)}});
  EXPECT_EQ(decide(make_history(txns), causal).outcome(), Outcome::violated);
}

// Says which of the three levels hold, as "RC RA CC".
std::string holding(const std::vector<sample::Txn>& txns,
                    const std::vector<sample::Stated>& stated = {}) {
  const History history = make_history(txns, stated);
  std::string out;
  for (const LevelId level : kWeak) {
    const Judgement v = decide(history, level);
    EXPECT_NE(v.outcome(), Outcome::unknown);
    if (v.outcome() == Outcome::violated) {
      expect_proof_shape(v.certificate.proof);
      continue;
    }
    out += out.empty() ? "" : " ";
    out += level == read_committed ? "RC" : level == read_atomic ? "RA" : "CC";
  }
  return out;
}

TEST(Weak, SeeingBothOfTwoWritersOfTwoKeys) {
  const sample::Txn t1 = {1, {w("x", 1), w("y", 1)}};
  const sample::Txn t2 = {2, {w("x", 2), w("y", 2)}};
  EXPECT_EQ(holding({t1, t2, {3, {r("x", 1), r("y", 2)}}}), "RC");
  EXPECT_EQ(holding({t1, t2, {3, {r("x", 2), r("y", 2)}}}), "RC RA CC");
}

TEST(Weak, ReadCommittedNeverGoesBackInCommitOrder) {
  const sample::Txn t1 = {1, {w("x", 1), w("y", 1)}};
  const sample::Txn t2 = {2, {w("x", 2), w("y", 2)}};
  const sample::Txn back = {3, {r("y", 2), r("x", 1)}};
  EXPECT_EQ(holding({t1, t2, back}), "RC");
  EXPECT_EQ(holding({t1, t2, back, {4, {r("y", 1), r("x", 2)}}}), "");
}

// Of reads that go back it makes no difference; of a session that reads what it writes later it
// does.
TEST(Weak, MonotonicAtomicViewIsReadCommittedWithoutSessionOrder) {
  const History back = make_history({{1, {w("x", 1), w("y", 1)}}, {2, {r("y", 1), r("x", kNull)}}});
  const History ahead = make_history({{1, {r("x", 1)}}, {1, {w("x", 1)}}});
  for (const LevelId level : {monotonic_atomic_view, read_committed}) {
    const Judgement v = decide(back, level);
    ASSERT_EQ(v.outcome(), Outcome::violated) << level_info(level).name;
    expect_proof_shape(v.certificate.proof);
  }
  EXPECT_EQ(decide(ahead, monotonic_atomic_view).outcome(), Outcome::satisfied);
  EXPECT_EQ(decide(ahead, read_committed).outcome(), Outcome::violated);
  Budget budget;  // one after the other, of one history
  const Problem problem = make_problem(ahead);
  WeakLevels both(problem);
  EXPECT_EQ(both.decide(read_committed, budget).outcome(), Outcome::violated);
  EXPECT_EQ(both.decide(monotonic_atomic_view, budget).outcome(), Outcome::satisfied);
}

TEST(Weak, ReadCommittedCountsWhatWasReadBeforeOnly) {
  const sample::Txn t1 = {1, {w("x", 1), w("y", 1)}};
  EXPECT_EQ(holding({t1, {2, {r("x", kNull), r("y", 1)}}}), "RC");
  EXPECT_EQ(holding({t1, {2, {r("y", 1), r("x", kNull)}}}), "");
}

TEST(Weak, ReadCommittedCountsRepeatedReads) {
  const sample::Txn t1 = {1, {w("x", 1)}};
  const sample::Txn t2 = {2, {r("x", 1), w("x", 2)}};
  const History up = make_history({t1, t2, {3, {r("x", 1), r("x", 2)}}});
  EXPECT_EQ(decide(up, read_committed).outcome(), Outcome::satisfied);
  const History down = make_history({t1, t2, {3, {r("x", 2), r("x", 1)}}});
  const Judgement v = decide(down, read_committed);
  EXPECT_EQ(v.outcome(), Outcome::violated);
  expect_proof_shape(v.certificate.proof);
}

TEST(Weak, ReadAtomicCountsTheSession) {
  EXPECT_EQ(holding({{1, {w("x", 1)}}, {1, {r("x", kNull)}}}), "RC");
}

TEST(Weak, ASessionDoesNotSeeItsUnknownTransactions) {
  const sample::Txn unknown = {1, {w("x", 1)}, TxnStatus::unknown};
  EXPECT_EQ(holding({unknown, {1, {r("x", kNull)}}, {2, {r("x", 1)}}}), "RC RA CC");
}

TEST(Weak, CausalCountsWhatOthersHadSeen) {
  EXPECT_EQ(
      holding({{1, {w("x", 1)}}, {2, {r("x", 1), w("y", 1)}}, {3, {r("y", 1), r("x", kNull)}}}),
      "RC RA");
}

TEST(Weak, ALongForkIsCausal) {
  EXPECT_EQ(holding({{1, {w("x", 1)}},
                     {2, {w("y", 1)}},
                     {3, {r("x", 1), r("y", kNull)}},
                     {4, {r("x", kNull), r("y", 1)}}}),
            "RC RA CC");
}

TEST(Weak, ReadingEachOthersWritesIsACycleAtEveryLevel) {
  EXPECT_EQ(holding({{1, {w("x", 1), r("y", 1)}}, {2, {w("y", 1), r("x", 1)}}}), "");
}

TEST(Weak, AStatedVersionOrderBindsTheCommitOrder) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}};
  EXPECT_EQ(holding(txns, {{"x", {1, 2}}}), "RC RA CC");
  EXPECT_EQ(holding(txns, {{"x", {2, 1}}}), "");
  const Judgement v = decide(make_history(txns, {{"x", {2, 1}}}), read_committed);
  ASSERT_EQ(v.certificate.proof.steps.size(), 3u);
  EXPECT_EQ(v.certificate.proof.steps[0].kind, ProofStep::Kind::fact);
  EXPECT_EQ(v.certificate.proof.steps[0].clause, (std::vector<Literal>{{1, 0}}));
}

TEST(Weak, WithoutABudgetThereIsNoAnswer) {
  const History history = make_history({{1, {w("x", 1)}}, {2, {r("x", 1)}}});
  for (const LevelId level : kWeak) {
    Budget budget(0, 1);
    ASSERT_TRUE(budget.exhausted_now());
    const Problem problem = make_problem(history);
    const Judgement v = WeakLevels(problem).decide(level, budget);
    EXPECT_EQ(v.outcome(), Outcome::unknown);
    EXPECT_EQ(v.reason, budget.reason());
  }
}

// What each transaction saw of each of many sessions takes tens of megabytes at once.
TEST(Weak, AsksForMemoryBeforeItIsTaken) {
  if (kSanitizerMemory) GTEST_SKIP() << "its own memory counts too";
  std::vector<sample::Txn> txns;
  for (int64_t i = 1; i <= 40 * 400; ++i) txns.push_back({i % 400, {w("x", i)}});
  const History history = make_history(txns);
  const Problem problem = make_problem(history);
  constexpr uint64_t kRoom = uint64_t{12} << 20;
  const auto decided = [&] {
    release_free_memory();  // of tests before this one
    Budget budget(0, resident_memory_bytes() + kRoom);
    const uint64_t before = peak_resident_memory_bytes();
    const Judgement v = WeakLevels(problem).decide(causal, budget);
    if (budget.cause() != UnknownCause::memory || v.reason != budget.reason()) return 1;
    return peak_resident_memory_bytes() > before + kRoom ? 2 : 0;
  };
  EXPECT_EXIT(std::_Exit(decided()), testing::ExitedWithCode(0), "");
}

// Serial transactions, each in a session of its own; but the last one, who has seen all the others,
// reads a key as transaction `x_from` left it.
std::vector<sample::Txn> one_session_each(int64_t x_from) {
  constexpr int64_t kTxns = 3000, kKeys = 20;
  const auto name = [](int64_t i) { return std::string(1, static_cast<char>('a' + i % kKeys)); };
  std::vector<sample::Txn> txns;
  for (int64_t i = 1; i <= kTxns; ++i) {
    txns.push_back({i, {w(name(i), i)}});
    if (i > 7) txns.back().ops = {r(name(i - 7), i - 7), r(name(i - 5), i - 5), w(name(i), i)};
  }
  txns.push_back({kTxns + 1, {r(name(kTxns), kTxns), r(name(x_from), x_from)}});
  return txns;
}

TEST(Weak, SessionsOfOneTransactionNeedNoClocks) {
  const History right = make_history(one_session_each(2995));
  const Judgement satisfied = decide(right, causal);
  EXPECT_EQ(satisfied.outcome(), Outcome::satisfied);
  const History wrong = make_history(one_session_each(1995));
  const Judgement violated = decide(wrong, causal);
  ASSERT_EQ(violated.outcome(), Outcome::violated);
  expect_proof_shape(violated.certificate.proof);
}

// The definition of Biswas and Enea, for one commit order.
class Definition {
 public:
  explicit Definition(const History& history)
      : problem_(make_problem(history)),
        n_(problem_.nodes()),
        base_(n_, std::vector<bool>(n_)),
        read_(base_) {
    for (const std::vector<Node>& session : problem_.sessions) {
      for (size_t i = 0; i < session.size(); ++i) {
        for (size_t j = i + 1; j < session.size(); ++j) base_[session[i]][session[j]] = true;
      }
    }
    for (Node n = 0; n < n_; ++n) {
      for (const ExternalRead& read : problem_.reads[n]) {
        if (read.write == kNone) continue;
        base_[problem_.writes.node[read.write]][n] = true;
        read_[problem_.writes.node[read.write]][n] = true;
      }
    }
    causes_ = base_;
    for (Node via = 0; via < n_; ++via) {
      for (Node a = 0; a < n_; ++a) {
        for (Node b = 0; b < n_; ++b) {
          if (causes_[a][via] && causes_[via][b]) causes_[a][b] = true;
        }
      }
    }
  }

  bool holds(LevelId level, const std::vector<Node>& order) const {
    std::vector<size_t> place(n_);
    for (size_t i = 0; i < n_; ++i) place[order[i]] = i;
    for (Node a = 0; a < n_; ++a) {
      for (Node b = 0; b < n_; ++b) {
        if (known(level)[a][b] && place[a] >= place[b]) return false;
      }
    }
    for (Node n = 0; n < n_; ++n) {
      for (const ExternalRead& read : problem_.reads[n]) {
        for (WriteId other : problem_.key_writers(read.key)) {
          const Node writer = problem_.writes.node[other];
          if (other == read.write || !sees(level, writer, n, read)) continue;
          if (read.write == kNone || place[writer] > place[problem_.writes.node[read.write]])
            return false;
        }
      }
    }
    return true;
  }

  bool some_order(LevelId level) const {
    std::vector<Node> order(n_);
    for (Node n = 0; n < n_; ++n) order[n] = n;
    do {
      if (holds(level, order)) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }

 private:
  const std::vector<std::vector<bool>>& known(LevelId level) const {
    return level == monotonic_atomic_view ? read_ : base_;
  }
  bool sees(LevelId level, Node writer, Node reader, const ExternalRead& read) const {
    if (level == read_atomic) return base_[writer][reader];
    if (level == causal) return causes_[writer][reader];
    return std::any_of(problem_.reads[reader].begin(), problem_.reads[reader].end(),
                       [&](const ExternalRead& earlier) {
                         return earlier.op < read.op && earlier.write != kNone &&
                                problem_.writes.node[earlier.write] == writer;
                       });
  }

  Problem problem_;
  size_t n_;
  std::vector<std::vector<bool>> base_, read_,
      causes_;  // session order and reads-from; that alone; the closure of both
};

TEST(Weak, AgreesWithTryingAllCommitOrders) {
  Rng rng(41);
  std::map<LevelId, int> satisfied;
  constexpr int kRounds = 600;
  for (int round = 0; round < kRounds; ++round) {
    const History history = sample::random_history(rng, sample::plain(3, 5, 4, 2));
    const Problem problem = make_problem(history);
    if (problem.found.bad_read.anomaly != Anomaly::none || !problem.repeating.empty()) continue;
    const Definition definition(history);
    for (const LevelId level : {monotonic_atomic_view, read_committed, read_atomic, causal}) {
      const Judgement v = decide(history, level);
      ASSERT_EQ(v.outcome() == Outcome::satisfied, definition.some_order(level))
          << level_info(level).name << ", round " << round;
      if (v.outcome() == Outcome::satisfied) {
        ++satisfied[level];
        std::vector<Node> order;
        for (const TxnId t : v.certificate.order.events) order.push_back(problem.node_of(t));
        ASSERT_TRUE(definition.holds(level, order));
      } else {
        expect_proof_shape(v.certificate.proof);
      }
    }
  }
  EXPECT_GT(satisfied[causal], kRounds / 30);
  EXPECT_GT(satisfied[read_atomic], satisfied[causal]);
  EXPECT_GT(satisfied[read_committed], satisfied[read_atomic]);
  EXPECT_GT(satisfied[monotonic_atomic_view], satisfied[read_committed]);
  EXPECT_LT(satisfied[monotonic_atomic_view], kRounds * 9 / 10);
}

}  // namespace
}  // namespace assay::internal
