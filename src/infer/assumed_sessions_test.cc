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
  AssumedSessions sessions{events};

  SessionsOf(const std::vector<sample::Txn>& txns, LevelId level)
      : history(make_history(txns)), events(problem, level_info(level)) {}
  bool assumes(Vertex from, Vertex to) const {
    const std::vector<Arc> arcs = sessions.arcs();
    return std::find(arcs.begin(), arcs.end(), Arc{from, to}) != arcs.end();
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
    EXPECT_TRUE(s.assumes(s.writes(0), s.writes(1)));
    EXPECT_TRUE(s.assumes(s.writes(1), s.writes(4)));
    EXPECT_TRUE(s.assumes(s.writes(2), s.writes(4)));
    EXPECT_TRUE(s.assumes(s.writes(3), s.writes(4)));
    EXPECT_FALSE(s.assumes(s.writes(0), s.writes(4)));  // goes without saying
    EXPECT_FALSE(s.assumes(s.writes(4), s.writes(5)));  // another session
  }
}

TEST(AssumedSessions, AtFirstAReadSeesWhatItsSessionDidAndThenItMayMissSome) {
  SessionsOf s(kSession, adya_si);
  EXPECT_TRUE(s.assumes(s.writes(1), s.reads(2)));
  s.sessions.relax({});
  EXPECT_FALSE(s.assumes(s.writes(1), s.reads(2)));
  EXPECT_FALSE(s.assumes(s.writes(1), s.reads(4)));
  EXPECT_TRUE(s.assumes(s.writes(0), s.reads(4)));
}

TEST(AssumedSessions, RelaxingGivesUpWhatWasRefutedAndLetsReadsBeOlder) {
  SessionsOf s(kSession, adya_si);
  const Arc refuted[] = {{s.writes(0), s.writes(1)}};
  s.sessions.relax(refuted);
  EXPECT_FALSE(s.assumes(s.writes(0), s.writes(1)));
  EXPECT_TRUE(s.assumes(s.writes(1), s.writes(4)));
  EXPECT_FALSE(s.assumes(s.writes(1), s.reads(2)));
}

TEST(AssumedSessions, InTheEndReadsMayBeAsOldAsTheyLike) {
  std::vector<sample::Txn> txns;
  for (int i = 0; i < 40; ++i) txns.push_back({1, {w("x", i + 1)}});
  SessionsOf s(txns, adya_si);
  for (const size_t reads : {39, 36, 24, 0, 0, 0}) {  // 40 less 1, 4, 16, 64
    EXPECT_EQ(s.sessions.arcs().size(), 39u + reads);
    s.sessions.relax({});
  }
}

TEST(AssumedSessions, NothingWaitsForATransactionOfUnknownOutcome) {
  const SessionsOf s(
      {{1, {w("x", 1)}, TxnStatus::unknown}, {1, {w("x", 2)}}, {1, {w("x", 3)}}, {2, {r("x", 1)}}},
      serializable);
  for (const Arc& arc : s.sessions.arcs()) EXPECT_NE(arc.from, s.writes(0));
  EXPECT_TRUE(s.assumes(s.writes(1), s.writes(2)));
}

}  // namespace
}  // namespace assay::internal
