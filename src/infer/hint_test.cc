#include "infer/hint.h"

#include <gtest/gtest.h>

#include "history/test_history.h"

namespace assay {
namespace {

using sample::make_history;
using sample::w;
using Times = std::vector<int64_t>;

Hint hint_of(const std::vector<sample::Txn>& txns) {
  const History h = make_history(txns);
  return make_hint(h, match_reads(h));
}

TEST(Hint, ClientTimesWhereThereAreAny) {
  const Hint hint = hint_of({{1, {}, TxnStatus::committed, 10, 30},
                             {2, {}, TxnStatus::aborted, 11, 12},  // no node
                             {3, {}, TxnStatus::committed, 20, 20}});
  EXPECT_EQ(hint.read_time, (Times{10, 20}));
  EXPECT_EQ(hint.write_time, (Times{30, 20}));
}

TEST(Hint, AnUnknownOutcomeHasNoEnd) {
  const Hint hint = hint_of({{1, {w("x", 1)}, TxnStatus::unknown, 10},
                             {2, {sample::r("x", 1)}, TxnStatus::committed, 20, 25}});
  EXPECT_EQ(hint.read_time, (Times{10, 20}));
  EXPECT_EQ(hint.write_time, (Times{10, 25}));
}

TEST(Hint, AFileWithSessionsInTurnIsTakenAsALog) {
  const Hint hint = hint_of({{1}, {2}, {1}, {2}, {1}, {2}});
  EXPECT_EQ(hint.write_time, (Times{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(hint.read_time, hint.write_time);
}

TEST(Hint, OneSessionAfterTheOtherGetsAnEvenPace) {
  const Hint hint = hint_of({{1}, {1}, {1}, {1}, {2}, {2}});
  const Times& t = hint.write_time;
  EXPECT_EQ(t[4], t[0]);
  EXPECT_EQ(t[5], t[2]);
  EXPECT_TRUE(t[0] < t[1] && t[1] < t[2] && t[2] < t[3]);
}

TEST(Hint, TimesOfSomeTransactionsOnlyAreNotUsed) {
  const Hint hint = hint_of({{1, {}, TxnStatus::committed, 500, 600}, {2}, {1}, {2}, {1}});
  EXPECT_EQ(hint.write_time, (Times{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace assay
