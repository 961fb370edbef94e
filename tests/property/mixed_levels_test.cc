// Transactions that declare levels of their own: the checker compared with the oracle, which tests the axioms of each
// transaction's level on every commit order; and with the level itself where all declare the same.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "assay/audit.h"
#include "base/rng.h"
#include "cases.h"
#include "history/random_draft.h"
#include "history/session_levels.h"
#include "oracle/oracle.h"

namespace assay::internal {
namespace {

using enum LevelId;
constexpr std::array kMixable = {read_committed, read_atomic,          causal,  prefix,
                                 session_si,     session_serializable, adya_si, serializable};

RandomShape shape_of(uint64_t round) {
  RandomShape shape;
  shape.max_txns = 6;
  shape.max_ops = 4;
  shape.timed = 0.3;
  if (round % 4 == 1) shape.lists = 1;
  if (round % 4 == 2) shape.rich = 1;
  if (round % 4 == 3) shape.ordered = 0.5, shape.max_keys = 2;
  return shape;
}

struct Counts {
  uint64_t satisfied = 0, violated = 0, skipped = 0;
  uint64_t below_all = 0;  // satisfied, and violated if all declared the strongest of its levels
};

Outcome checked(const Draft& draft, LevelId level) {
  AuditOptions options;
  options.check.levels = {level};
  options.allow_empty = true;
  options.clock_drift = draft.clock_drift;
  const Audit found = audit(*draft.history(), "history", options);
  EXPECT_FALSE(found.error) << found.error->to_string() << "\n" << draft.text();
  return found.error ? Outcome::unknown : found.result.find(level)->outcome;
}

void compare(const Draft& draft, Counts& counts) {
  const Result<History> history = draft.history();
  if (!history.ok()) return;
  const Outcome right = oracle::decide(*history, mixed), said = checked(draft, mixed);
  if (right == Outcome::unknown || said == Outcome::unknown) {
    ++counts.skipped;
    return;
  }
  EXPECT_EQ(said, right) << draft.text();
  ++(right == Outcome::satisfied ? counts.satisfied : counts.violated);
  counts.below_all += right == Outcome::satisfied &&
                      oracle::decide(*history, session_serializable) == Outcome::violated;
}

TEST(MixedLevels, AreDecidedAsTheOracleSays) {
  const uint64_t rounds = scaled(12'000, 1000);
  Counts counts;
  for (uint64_t seed = 1; seed <= rounds && !testing::Test::HasFailure(); ++seed) {
    Rng rng(seed);
    Draft draft = random_draft(rng, shape_of(seed));
    for (DraftTxn& txn : draft.txns) txn.level = kMixable[rng.below(kMixable.size())];
    SCOPED_TRACE(seed);
    compare(draft, counts);
  }
  std::printf("satisfied %lu, of these %lu not serializable, violated %lu, not compared %lu\n",
              counts.satisfied, counts.below_all, counts.violated, counts.skipped);
  EXPECT_GT(counts.satisfied, rounds / 5);
  EXPECT_GT(counts.violated, rounds / 5);
  EXPECT_GT(counts.below_all, rounds / 50);
  EXPECT_LT(counts.skipped, rounds / 2);
}

TEST(MixedLevels, AreTheLevelWhereAllDeclareIt) {
  const uint64_t rounds = scaled(4000, 400);
  uint64_t compared = 0;
  for (uint64_t seed = 1; seed <= rounds && !testing::Test::HasFailure(); ++seed) {
    Rng rng(seed);
    Draft draft = random_draft(rng, shape_of(seed));
    const LevelId level = kMixable[seed % kMixable.size()];
    for (DraftTxn& txn : draft.txns) txn.level = level;
    SCOPED_TRACE(seed);
    if (!draft.history().ok()) continue;
    const Outcome one = checked(draft, mixed), all = checked(draft, with_sessions(level));
    if (one == Outcome::unknown || all == Outcome::unknown) continue;
    EXPECT_EQ(one, all) << draft.text();
    ++compared;
  }
  EXPECT_GT(compared, rounds / 2);
}

}  // namespace
}  // namespace assay::internal
