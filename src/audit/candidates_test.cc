#include "audit/candidates.h"

#include <gtest/gtest.h>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::kCommitted;
using sample::make_history;
using sample::r;
using sample::w;

enum class Has : uint8_t { none, apart, overlapping };

Has candidate(const History& h, Anomaly a) {
  const Stakes s = stakes_of(h, find_contention(h));
  const auto i = static_cast<size_t>(a);
  return s.could_show_overlapping[i] ? Has::overlapping : s.could_show[i] ? Has::apart : Has::none;
}

TEST(Candidates, OfALostUpdateReadsAndWritesWhatAnotherWrites) {
  const auto of = [](int64_t begin) {
    return candidate(make_history({{1, {r("x", 0), w("x", 1)}, kCommitted, 0, 10},
                                   {2, {w("x", 2)}, kCommitted, begin, 30}}),
                     Anomaly::lost_update);
  };
  EXPECT_EQ(of(5), Has::overlapping);
  EXPECT_EQ(of(20), Has::apart);
  EXPECT_EQ(candidate(make_history({{1, {r("x", 0), w("y", 1)}}, {2, {w("x", 2)}}}),
                      Anomaly::lost_update),
            Has::none);
}

TEST(Candidates, OfWriteSkewCross) {
  EXPECT_EQ(candidate(make_history({{1, {r("x", 0), w("y", 1)}}, {2, {r("y", 1), w("x", 2)}}}),
                      Anomaly::write_skew),
            Has::overlapping);
  EXPECT_EQ(candidate(make_history({{1, {r("x", 0), w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}}),
                      Anomaly::write_skew),
            Has::none);
  // One transaction does not cross itself, and a second one like it does.
  const sample::Txn both = {1, {r("x", 0), r("y", 0), w("x", 1), w("y", 1)}};
  EXPECT_EQ(candidate(make_history({both, {2, {r("x", 0)}}}), Anomaly::write_skew), Has::none);
  EXPECT_EQ(candidate(make_history({both, {2, {r("x", 0), r("y", 0), w("x", 2), w("y", 2)}}}),
                      Anomaly::write_skew),
            Has::overlapping);
}

TEST(Candidates, OfAFracturedReadShareTwoKeys) {
  EXPECT_EQ(candidate(make_history({{1, {w("x", 1), w("y", 1)}}, {2, {r("x", 1), r("y", 1)}}}),
                      Anomaly::fractured_read),
            Has::overlapping);
  EXPECT_EQ(
      candidate(make_history(
                    {{1, {w("x", 1), w("z", 1)}}, {2, {r("x", 1), r("y", 0)}}, {3, {w("y", 2)}}}),
                Anomaly::fractured_read),
      Has::none);
}

TEST(Candidates, OfAnAbortedReadNeedOneThatAborted) {
  EXPECT_EQ(candidate(make_history({{1, {w("x", 1)}, TxnStatus::aborted}, {2, {r("x", 0)}}}),
                      Anomaly::aborted_read),
            Has::overlapping);
  EXPECT_EQ(candidate(make_history({{1, {w("x", 1)}}, {2, {r("x", 0)}}}), Anomaly::aborted_read),
            Has::none);
}

// A hot key and a transaction of very many keys: neither all pairs of transactions nor of keys are
// looked at.
TEST(Candidates, OfAHotKeyAreNotLookedAtPairByPair) {
  std::vector<sample::Txn> txns;
  for (int64_t i = 0; i < 20'000; ++i) txns.push_back({i, {r("x", 0), w("x", i + 1)}});
  const History h = make_history(txns);
  const Contention found = find_contention(h);
  EXPECT_EQ(found.write_write, 20'000u * 19'999 / 2);
  EXPECT_EQ(found.read_write, 20'000u * 19'999);
  EXPECT_EQ(candidate(h, Anomaly::write_skew), Has::none);
}

TEST(Candidates, AreRuledOutByEveryStrongerLevel) {
  for (const LevelInfo& strong : all_levels())
    for (const LevelInfo& weak : all_levels())
      for (const Anomaly a : anomalies_with_candidates())
        if (implies(strong.id, weak.id) && rules_out(weak.id, a)) {
          EXPECT_TRUE(rules_out(strong.id, a)) << strong.name << anomaly_info(a).name;
        }
}

}  // namespace
}  // namespace assay::internal
