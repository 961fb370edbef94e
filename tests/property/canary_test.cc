// The harness must catch a checker that is wrong in a way real checkers have been wrong. Each
// canary is the oracle itself, asked about a history in which something was overlooked.
#include <gtest/gtest.h>

#include "oracle/draft.h"
#include "oracle/oracle.h"
#include "oracle/selftest.h"

namespace assay::internal {
namespace {

// Copies a history, keeping of it what the canary sees.
struct Eyes {
  bool aborted_as_committed = false;  // overlooks that a transaction aborted
  bool unknown_as_aborted = false;    // takes a timeout for a failure
  bool unknown_as_committed = false;  // takes a timeout for a success
  bool times = true;
  bool initial_reads = true;  // overlooks reads of the initial state: half the anti-dependencies
  bool sessions = true;
  bool drift = true;
};

History seen(const History& h, const Eyes& eyes) {
  HistoryBuilder b;
  OpBuffers buffers;
  b.set_initial(h.initial());
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    TxnStatus status = h.status(t);
    if (status == TxnStatus::aborted && eyes.aborted_as_committed) status = TxnStatus::committed;
    if (status == TxnStatus::unknown && eyes.unknown_as_aborted) status = TxnStatus::aborted;
    if (status == TxnStatus::unknown && eyes.unknown_as_committed) status = TxnStatus::committed;
    b.begin_txn(
        {.session = eyes.sessions ? h.session_name(h.session(t)) : ValueView::of(int64_t{t}),
         .status = status,
         .begin = eyes.times ? h.begin_time(t) : Interval{},
         .end = eyes.times ? h.end_time(t) : Interval{}});
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Operation op = h.op(i);
      if (op.kind == OpKind::read && h.is_initial(op.version) && !eyes.initial_reads) continue;
      b.add(h.outside(i, buffers));
    }
    EXPECT_TRUE(b.end_txn().ok());
  }
  auto copy = std::move(b).finish();
  EXPECT_TRUE(copy.ok());
  if (eyes.drift) copy->set_clock_drift(h.clock_drift());
  return std::move(*copy);
}

void expect_caught(const oracle::Checker& canary, const char* what) {
  const oracle::SelftestResult result = oracle::selftest(canary, {.seed = 9, .count = 3000});
  EXPECT_FALSE(result.ok()) << what << " was not caught";
}

void expect_caught(const Eyes& eyes, const char* what) {
  expect_caught([&](const History& h) { return oracle::decide_all(seen(h, eyes)); }, what);
}

TEST(Canary, aFaithfulCopyIsNotCaught) {
  const auto copy = [](const History& h) { return oracle::decide_all(seen(h, {})); };
  const oracle::SelftestResult result = oracle::selftest(copy, {.seed = 9, .count = 3000});
  EXPECT_TRUE(result.ok()) << result.failure;
}

TEST(Canary, overlookedAborts) { expect_caught({.aborted_as_committed = true}, "aborted reads"); }
TEST(Canary, timeoutsTakenForFailures) { expect_caught({.unknown_as_aborted = true}, "failures"); }
TEST(Canary, timeoutsTakenForSuccesses) {
  expect_caught({.unknown_as_committed = true}, "successes");
}
TEST(Canary, overlookedTimes) { expect_caught({.times = false}, "times"); }
TEST(Canary, overlookedAntiDependencies) {
  expect_caught({.initial_reads = false}, "initial reads");
}
TEST(Canary, overlookedSessions) { expect_caught({.sessions = false}, "sessions"); }

TEST(Canary, overlookedDriftOfClocks) { expect_caught({.drift = false}, "drift"); }

// A level taken for its weaker or stronger neighbour, in all neighbourhoods.
TEST(Canary, levelsTakenForTheirNeighbours) {
  for (const LevelInfo& strong : default_levels()) {
    for (const LevelId weak : next_weaker(strong.id)) {
      if (level_info(weak).on_request()) continue;
      const auto at = [](LevelId id) { return static_cast<size_t>(id); };
      expect_caught(
          [&](const History& h) {
            oracle::Verdicts v = oracle::decide_all(h);
            v[at(strong.id)] = v[at(weak)];
            return v;
          },
          strong.name.data());
      expect_caught(
          [&](const History& h) {
            oracle::Verdicts v = oracle::decide_all(h);
            v[at(weak)] = v[at(strong.id)];
            return v;
          },
          strong.name.data());
    }
  }
}

}  // namespace
}  // namespace assay::internal
