#include "infer/assumed_sessions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;

struct SessionsOf {
  History history;
  Problem problem = make_problem(history);
  EventGraph events;
  Rows<Arc> assumed;

  SessionsOf(const std::vector<sample::Txn>& txns, LevelId level)
      : history(make_history(txns)),
        events(problem, level_info(level)),
        assumed(assumed_sessions(events)) {}
  // In how many of the sets.
  size_t assumes(Vertex from, Vertex to) const {
    size_t sets = 0;
    for (size_t i = 0; i < assumed.rows(); ++i)
      sets += std::ranges::count(assumed[i], Arc{from, to}) > 0;
    return sets;
  }
  Vertex reads(Node n) const { return events.read_event(n); }
  Vertex writes(Node n) const { return events.write_event(n); }
};

const std::vector<sample::Txn> kSession = {{1, {w("x", 1)}},     {1, {w("x", 2)}},
                                           {1, {r("y", kNull)}}, {1, {r("y", kNull)}},
                                           {1, {w("x", 3)}},     {2, {w("x", 4)}}};

TEST(AssumedSessions, EveryTransactionComesBeforeTheNextThatWrites) {
  for (const LevelId level : {adya_si, serializable}) {
    const SessionsOf s(kSession, level);
    EXPECT_GT(s.assumes(s.writes(0), s.writes(1)), 0u);
    EXPECT_GT(s.assumes(s.writes(1), s.writes(4)), 0u);
    EXPECT_GT(s.assumes(s.writes(2), s.writes(4)), 0u);
    EXPECT_GT(s.assumes(s.writes(3), s.writes(4)), 0u);
    EXPECT_EQ(s.assumes(s.writes(4), s.writes(5)), 0u);  // another session
  }
  const SessionsOf s(kSession, adya_si);
  EXPECT_EQ(s.assumes(s.writes(0), s.writes(4)), 0u);  // goes without saying
}

// What holds of older ones if the last is missed is a set of its own.
TEST(AssumedSessions, AReadSeesWhatItsSessionDidOrMissesOnlyTheLast) {
  const SessionsOf s(kSession, adya_si);
  EXPECT_EQ(s.assumes(s.writes(1), s.reads(2)), 1u);
  EXPECT_EQ(s.assumes(s.writes(3), s.reads(4)), 1u);
  EXPECT_EQ(s.assumes(s.writes(0), s.reads(4)), 1u);
  EXPECT_EQ(s.assumes(s.writes(1), s.reads(4)), 0u);
}

TEST(AssumedSessions, ThreeOfEachReadAndOneOfEachWriteAtMost) {
  std::vector<sample::Txn> txns;
  for (int i = 0; i < 40; ++i) txns.push_back({1, {w("x", i + 1)}});
  EXPECT_EQ(SessionsOf(txns, adya_si).assumed.rows(), 39u + 39 + 36 + 24);  // 40 less 1, 4, 16
}

TEST(AssumedSessions, NothingWaitsForATransactionOfUnknownOutcome) {
  const SessionsOf s(
      {{1, {w("x", 1)}, TxnStatus::unknown}, {1, {w("x", 2)}}, {1, {w("x", 3)}}, {2, {r("x", 1)}}},
      serializable);
  for (const Arc& arc : s.assumed.items) EXPECT_NE(arc.from, s.writes(0));
  EXPECT_GT(s.assumes(s.writes(1), s.writes(2)), 0u);
}

}  // namespace
}  // namespace assay::internal
