// Transactions that declare levels of their own: the checker compared with the oracle, which tests
// the axioms of each transaction's level on every commit order; and with the level itself where all
// declare the same.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <vector>

#include "assay/audit.h"
#include "assay/check.h"
#include "assay/verify.h"
#include "base/rng.h"
#include "cases.h"
#include "history/session_levels.h"
#include "oracle/oracle.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using enum LevelId;
constexpr std::array kMixable = {read_committed, read_atomic,          causal,  prefix,
                                 session_si,     session_serializable, adya_si, serializable};

RandomShape mixed_shape(uint64_t round) {
  RandomShape shape;
  shape.max_txns = 6;
  shape.max_ops = 4;
  shape.timed = 0.3;
  if (round % 4 == 1) shape.lists = 1;
  if (round % 4 == 2) shape.rich = 1, shape.predicates = 0.3;
  if (round % 4 == 3) shape.ordered = 0.5, shape.max_keys = 2;
  return shape;
}

struct MixedCounts {
  uint64_t satisfied = 0, violated = 0, skipped = 0;
  uint64_t below_all = 0;  // satisfied, and violated if all declared the strongest of its levels
};

Outcome outcome_of(const Draft& draft, LevelId level) {
  AuditOptions options;
  options.check.levels = {level};
  options.allow_empty = true;
  options.clock_drift = draft.clock_drift;
  const Audit found = audit(*draft.history(), "history", options);
  EXPECT_FALSE(found.error) << found.error->to_string() << "\n" << draft.text();
  return found.error ? Outcome::unknown : found.result.find(level)->outcome;
}

void compare(const Draft& draft, MixedCounts& counts) {
  const Result<History> history = draft.history();
  if (!history.ok()) return;
  const Outcome right = oracle::decide(*history, mixed), said = outcome_of(draft, mixed);
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
  MixedCounts counts;
  for (uint64_t seed = 1; seed <= rounds && !testing::Test::HasFailure(); ++seed) {
    Rng rng(rotated(seed));
    Draft draft = random_draft(rng, mixed_shape(seed));
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

// Any order of events, r before w, and mostly w at once.
Order made_up_order(const History& h, Rng& rng) {
  Order order;
  order.split = true;
  std::vector<TxnId> txns;
  for (TxnId t = 0; t < h.txn_count(); ++t)
    if (h.status(t) == TxnStatus::committed ||
        (h.status(t) == TxnStatus::unknown && rng.chance(0.5)))
      txns.insert(txns.begin() + static_cast<std::ptrdiff_t>(rng.below(txns.size() + 1)), t);
  for (const TxnId t : txns) {
    const size_t at = rng.chance(0.7) ? order.events.size() : rng.below(order.events.size() + 1);
    order.events.insert(order.events.begin() + static_cast<std::ptrdiff_t>(at), 2 * t);
    const size_t from = at + 1;
    const size_t to =
        at + 1 == order.events.size() ? from : from + rng.below(order.events.size() - at);
    const bool at_once = rng.chance(0.7);
    order.events.insert(order.events.begin() + static_cast<std::ptrdiff_t>(at_once ? from : to),
                        2 * t + 1);
  }
  return order;
}

// A proof of one declaration is offered for the same history with another, an order that somebody
// made up for any.
TEST(MixedLevels, TheVerifierAcceptsNothingElse) {
  const uint64_t rounds = scaled(4000, 400);
  uint64_t offered = 0, orders_accepted = 0, proofs_accepted = 0;
  for (uint64_t seed = 1; seed <= rounds && !testing::Test::HasFailure(); ++seed) {
    Rng rng(rotated(seed));
    RandomShape shape = mixed_shape(seed);
    shape.max_txns = 4;
    Draft draft = random_draft(rng, shape);
    for (DraftTxn& txn : draft.txns) txn.level = kMixable[rng.below(kMixable.size())];
    SCOPED_TRACE(seed);
    if (!draft.history().ok()) continue;
    const History one = *draft.history();
    CheckOptions options;
    options.levels = {mixed};
    const CheckResult found = check(one, options);
    const std::string declared = draft.text();
    for (DraftTxn& txn : draft.txns)
      if (rng.chance(0.5)) txn.level = kMixable[rng.below(kMixable.size())];
    const History other = *draft.history();
    const Outcome right = oracle::decide(other, mixed);
    if (right == Outcome::unknown) continue;
    std::vector<Certificate> offers;
    for (const Certificate& c : found.certificates)  // some say more of other levels
      if (c.levels == std::vector{mixed}) offers.push_back(c);
    for (int i = 0; i < 8; ++i) {
      Certificate made_up;
      made_up.levels = {mixed};
      made_up.order = made_up_order(other, rng);
      offers.push_back(std::move(made_up));
    }
    for (const Certificate& offer : offers) {
      ++offered;
      if (!verify(offer, other).ok()) continue;
      EXPECT_EQ(offer.outcome(), right) << draft.text() << "from\n" << declared;
      ++(offer.kind == Certificate::Kind::order ? orders_accepted : proofs_accepted);
    }
  }
  std::printf("offered %lu, accepted %lu orders and %lu proofs\n", offered, orders_accepted,
              proofs_accepted);
  EXPECT_GT(orders_accepted, rounds / 10);
  EXPECT_GT(proofs_accepted, rounds / 40);
}

TEST(MixedLevels, AreTheLevelWhereAllDeclareIt) {
  const uint64_t rounds = scaled(4000, 400);
  uint64_t compared = 0;
  for (uint64_t seed = 1; seed <= rounds && !testing::Test::HasFailure(); ++seed) {
    Rng rng(rotated(seed));
    Draft draft = random_draft(rng, mixed_shape(seed));
    const LevelId level = kMixable[seed % kMixable.size()];
    for (DraftTxn& txn : draft.txns) txn.level = level;
    SCOPED_TRACE(seed);
    if (!draft.history().ok()) continue;
    const Outcome one = outcome_of(draft, mixed), all = outcome_of(draft, with_sessions(level));
    if (one == Outcome::unknown || all == Outcome::unknown) continue;
    EXPECT_EQ(one, all) << draft.text();
    ++compared;
  }
  EXPECT_GT(compared, rounds / 2);
}

}  // namespace
}  // namespace assay::internal
