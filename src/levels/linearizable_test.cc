#include "levels/linearizable.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "history/test_history.h"
#include "levels/proof_shape.h"

namespace assay {
namespace {

using sample::cas;
using sample::ins;
using sample::kNull;
using sample::make_history;
using sample::r;
using sample::Txn;
using sample::w;
constexpr TxnStatus kCommitted = TxnStatus::committed;

LinearizableVerdict decide(const History& history, bool zones = true) {
  const ReadsFrom rf = match_reads(history);
  EXPECT_TRUE(decidable_by_key(history, rf));
  Stages stages;
  Budget budget;
  Switches switches;
  switches.zones = zones;
  LinearizableVerdict v = decide_by_key(history, rf, switches, stages, budget);
  if (v.outcome == Outcome::violated && v.certificate.kind == Certificate::Kind::proof)
    sample::expect_proof_shape(v.certificate.proof);
  return v;
}

TEST(Linearizable, TheOrderTakesEachOperationAtItsInstant) {
  const History h = make_history({{1, {w("x", 1)}, kCommitted, 0, 9},
                                  {2, {r("x", kNull)}, kCommitted, 1, 2},
                                  {2, {r("x", 1)}, kCommitted, 3, 4},
                                  {3, {w("y", 1)}, kCommitted, 1, 2}});
  const LinearizableVerdict v = decide(h);
  ASSERT_EQ(v.outcome, Outcome::satisfied);
  EXPECT_EQ(v.certificate.kind, Certificate::Kind::order);
  const std::vector<uint32_t>& order = v.certificate.order.events;
  ASSERT_EQ(order.size(), 4u);
  const auto place = [&](TxnId t) { return std::find(order.begin(), order.end(), t); };
  EXPECT_LT(place(1), place(0));
  EXPECT_LT(place(0), place(2));
}

TEST(Linearizable, AValueThatIsReadAgainAfterAnotherIsRefuted) {
  const History h = make_history({{1, {w("x", 1)}, kCommitted, 0, 1},
                                  {2, {w("x", 2)}, kCommitted, 2, 3},
                                  {3, {r("x", 1)}, kCommitted, 4, 5}});
  const LinearizableVerdict v = decide(h);
  EXPECT_EQ(v.outcome, Outcome::violated);
  EXPECT_EQ(v.certificate.kind, Certificate::Kind::proof);
  const LinearizableVerdict searched = decide(h, false);
  EXPECT_EQ(searched.outcome, Outcome::violated);
  EXPECT_EQ(searched.certificate.kind, Certificate::Kind::exhausted);
  EXPECT_EQ(searched.certificate.exhausted.until, 2u);
}

TEST(Linearizable, ComparisonsFormChains) {
  std::vector<Txn> txns = {{1, {ins("x", 1, true)}, kCommitted, 0, 1},
                           {2, {cas("x", 1, 2, true)}, kCommitted, 0, 9},
                           {3, {cas("x", 2, 3, true)}, kCommitted, 2, 9},
                           {4, {r("x", 3)}, kCommitted, 3, 4}};
  EXPECT_EQ(decide(make_history(txns)).outcome, Outcome::satisfied);
  txns.push_back({5, {r("x", 1)}, kCommitted, 5, 6});  // passed on before 4
  EXPECT_EQ(decide(make_history(txns)).outcome, Outcome::violated);
  txns.back().ops = {cas("x", 2, 4, true)};  // a second one on the same value
  EXPECT_EQ(decide(make_history(txns)).outcome, Outcome::violated);
}

TEST(Linearizable, AFailureNeedsAMomentToFail) {
  std::vector<Txn> txns = {{1, {w("x", 1)}, kCommitted, 0, 1},
                           {2, {cas("x", 1, 9, false)}, kCommitted, 2, 3},
                           {3, {r("x", 1)}, kCommitted, 4, 5}};
  const LinearizableVerdict v = decide(make_history(txns));
  EXPECT_EQ(v.outcome, Outcome::violated);
  EXPECT_EQ(v.certificate.kind, Certificate::Kind::exhausted);
  txns[2].ops = {r("x", 2)};  // something else came in between
  txns.push_back({4, {w("x", 2)}, kCommitted, 2, 9});
  EXPECT_EQ(decide(make_history(txns)).outcome, Outcome::satisfied);
}

// Nobody read what it wrote, yet only it explains why the comparison failed.
TEST(Linearizable, AnUnknownOutcomeMayExplainAFailure) {
  const History h = make_history({{1, {w("x", 1)}, kCommitted, 0, 1},
                                  {2, {w("x", 2)}, TxnStatus::unknown, 1},
                                  {3, {cas("x", 1, 9, false)}, kCommitted, 2, 3}});
  const LinearizableVerdict v = decide(h);
  ASSERT_EQ(v.outcome, Outcome::satisfied);
  EXPECT_EQ(v.certificate.order.events, (std::vector<uint32_t>{0, 1, 2}));
}

TEST(Linearizable, RepeatedValuesAreSearched) {
  std::vector<Txn> txns = {{1, {w("x", 1)}, kCommitted, 0, 1},
                           {2, {w("x", 2)}, kCommitted, 2, 3},
                           {3, {w("x", 1)}, kCommitted, 4, 9},
                           {4, {r("x", 1)}, kCommitted, 5, 6}};
  EXPECT_EQ(decide(make_history(txns)).outcome, Outcome::satisfied);
  txns[2].begin = 7;
  EXPECT_EQ(decide(make_history(txns)).outcome, Outcome::violated);
}

TEST(Linearizable, LongerTransactionsAreForTheOtherLevels) {
  const History h = make_history({{1, {w("x", 1), w("y", 1)}, kCommitted, 0, 1}});
  EXPECT_FALSE(decidable_by_key(h, match_reads(h)));
}

}  // namespace
}  // namespace assay
