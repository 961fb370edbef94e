// What transactions saw that did not commit, counted: the checker on the history with companions,
// compared with the oracle, which lets those transactions read and write nothing.
#include "history/aborted_reads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "assay/audit.h"
#include "assay/verify.h"
#include "base/rng.h"
#include "cases.h"
#include "oracle/oracle.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using enum LevelId;
const std::vector<LevelId> kOrdered = {
    prefix,    adya_si,      session_si,           generalized_si,     strong_session_si,
    strong_si, serializable, session_serializable, strict_serializable};

RandomShape shape_of(uint64_t round) {
  RandomShape shape;
  shape.max_txns = 6;
  shape.unknown = 0.5;
  if (round % 3 == 1) shape.lists = 1;
  if (round % 3 == 2) shape.rich = 1, shape.predicates = 0.5;
  return shape;
}

// More of what does not commit than the generator makes.
void abort_more(Draft& draft, Rng& rng) {
  for (DraftTxn& txn : draft.txns)
    if (txn.status == TxnStatus::committed && rng.chance(0.3)) txn.status = TxnStatus::aborted;
}

struct Counts {
  uint64_t satisfied = 0, violated = 0, skipped = 0;
  uint64_t by_reads_alone = 0;  // violated, and satisfied without what aborted transactions saw
};

void compare(const Draft& draft, Counts& counts) {
  Result<History> history = draft.history();
  if (!history.ok()) return;
  AuditOptions options;
  options.check.levels = kOrdered;
  options.aborted_reads = options.allow_empty = true;
  options.clock_drift = draft.clock_drift;
  const Audit with = audit(*draft.history(), "history", options);
  ASSERT_FALSE(with.error) << with.error->to_string() << "\n" << draft.text();
  for (const LevelId level : kOrdered) {
    const Outcome right = oracle::decide_with_aborted_reads(*history, level);
    const Outcome said = with.result.find(level)->outcome;
    if (right == Outcome::unknown || said == Outcome::unknown) {
      ++counts.skipped;
      continue;
    }
    EXPECT_EQ(said, right) << level_info(level).name << "\n" << draft.text();
    ++(right == Outcome::satisfied ? counts.satisfied : counts.violated);
    counts.by_reads_alone +=
        right == Outcome::violated && oracle::decide(*history, level) == Outcome::satisfied;
  }
}

TEST(AbortedReads, CountAsTheOracleSays) {
  const uint64_t rounds = scaled(3000, 300);
  Counts counts;
  for (uint64_t seed = 1; seed <= rounds && !testing::Test::HasFailure(); ++seed) {
    Rng rng(rotated(seed));
    Draft draft = random_draft(rng, shape_of(seed));
    abort_more(draft, rng);
    SCOPED_TRACE(seed);
    compare(draft, counts);
  }
  std::printf(
      "satisfied %lu, violated %lu, of these %lu by aborted reads alone, not compared %lu\n",
      counts.satisfied, counts.violated, counts.by_reads_alone, counts.skipped);
  EXPECT_GT(counts.satisfied, 5 * rounds / 3);
  EXPECT_GT(counts.violated, 5 * rounds / 3);
  EXPECT_GT(counts.by_reads_alone, rounds / 5);
  EXPECT_LT(counts.skipped, 4 * rounds);
}

}  // namespace
}  // namespace assay::internal
