#include "levels/clock_faults.h"

#include <gtest/gtest.h>

#include <vector>

#include "history/test_history.h"
#include "levels/proof_shape.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using sample::expect_proof_shape;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;

sample::Txn at(int64_t begin, int64_t end, sample::Txn t) {
  t.begin = begin;
  t.end = end;
  return t;
}

Outcome refuted(const History& h, LevelId level) {
  const Problem problem = make_problem(h);
  const CheckOptions options;
  Stages stages;
  Budget budget;
  const Judgement v = ClockFaults(problem).refute(level_info(level), options, stages, budget);
  if (v.outcome() == Outcome::violated) expect_proof_shape(v.certificate.proof);
  return v.outcome();
}

const std::vector<sample::Stated> kOneThenTwo = {{"x", {1, 2}}};

TEST(ClockFaults, AReadOfWhatIsOverwritten) {
  const History h = make_history(
      {at(0, 10, {1, {w("x", 1)}}), at(12, 20, {2, {w("x", 2)}}), at(30, 40, {3, {r("x", 1)}})},
      kOneThenTwo);
  EXPECT_EQ(refuted(h, strict_serializable), Outcome::violated);
  EXPECT_EQ(refuted(h, strong_si), Outcome::violated);
  EXPECT_EQ(refuted(h, generalized_si), Outcome::unknown) << "a snapshot may be old there";
}

TEST(ClockFaults, AReadOfWhatWasCommittedLater) {
  const History h =
      make_history({at(0, 30, {1, {w("x", 1)}}), at(10, 40, {2, {r("x", 1)}})}, kOneThenTwo);
  EXPECT_EQ(refuted(h, generalized_si), Outcome::violated);
  EXPECT_EQ(refuted(h, strong_si), Outcome::violated);
  EXPECT_EQ(refuted(h, strict_serializable), Outcome::unknown) << "both ran at the same time";
}

TEST(ClockFaults, WritersTheOtherWayRound) {
  const History h =
      make_history({at(20, 30, {1, {w("x", 1)}}), at(0, 10, {2, {w("x", 2)}})}, kOneThenTwo);
  EXPECT_EQ(refuted(h, generalized_si), Outcome::violated);
  EXPECT_EQ(refuted(h, strict_serializable), Outcome::violated);
}

TEST(ClockFaults, WritersWhoOverlap) {
  const History h =
      make_history({at(0, 20, {1, {w("x", 1)}}), at(10, 30, {2, {w("x", 2)}})}, kOneThenTwo);
  EXPECT_EQ(refuted(h, generalized_si), Outcome::violated);
  EXPECT_EQ(refuted(h, strict_serializable), Outcome::unknown);
}

TEST(ClockFaults, ASoundHistoryHasNone) {
  const History h =
      make_history({at(0, 10, {1, {w("x", 1)}}), at(20, 30, {2, {r("x", 1), w("x", 2)}}),
                    at(40, 50, {3, {r("x", 2)}})},
                   kOneThenTwo);
  for (const LevelId level : {generalized_si, strong_session_si, strong_si, strict_serializable})
    EXPECT_EQ(refuted(h, level), Outcome::unknown);
}

// Of random histories whose orders are stated, what is refuted so is what is violated.
TEST(ClockFaults, AgreeWithTheDecisionOfTheWhole) {
  RandomShape shape;
  shape.timed = shape.ordered = 1;
  shape.drifting = 0;
  Rng rng(5);
  int found = 0, violated = 0;
  for (int i = 0; i < 3000; ++i) {
    const Result<History> h = random_draft(rng, shape).history();
    if (!h.ok() || !h->fully_timed()) continue;
    const Problem problem = make_problem(*h);
    if (!problem.unresolved.empty() || problem.found.bad_read.anomaly != Anomaly::none) continue;
    for (const LevelId level :
         {generalized_si, strong_session_si, strong_si, strict_serializable}) {
      const CheckOptions options;
      Stages stages;
      Budget budget;
      const Outcome whole =
          decide_strong(problem, level_info(level), options, stages, budget).outcome();
      violated += whole == Outcome::violated;
      if (refuted(*h, level) != Outcome::violated) continue;
      ++found;
      EXPECT_EQ(whole, Outcome::violated) << level_info(level).name;
    }
  }
  EXPECT_GT(found, violated / 20) << "of " << violated;
}

}  // namespace
}  // namespace assay::internal
