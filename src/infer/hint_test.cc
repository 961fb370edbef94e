#include "infer/hint.h"

#include <gtest/gtest.h>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::make_history;
using sample::w;
using Times = std::vector<int64_t>;

Hint hint_of(const std::vector<sample::Txn>& txns, const std::vector<sample::Stated>& stated = {}) {
  const History h = make_history(txns, stated);
  return make_problem(h).hint;
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

// The file has them in another order than that in which they read from each other.
TEST(Hint, SessionsOfOneTransactionArePlacedByWhatTheyRead) {
  const std::vector<int64_t> file = {4, 1, 6, 3, 0, 5, 2};
  std::vector<sample::Txn> txns;
  for (const int64_t i : file) {
    txns.push_back({i + 1, {w("x" + std::to_string(i), 1)}});
    if (i > 0)
      txns.back().ops.insert(txns.back().ops.begin(), sample::r("x" + std::to_string(i - 1), 1));
  }
  for (const int64_t i : {1, 2, 3}) txns.push_back({10 + i, {w("y", i)}});  // more writers a key
  const Hint hint = hint_of(txns);
  for (size_t a = 0; a < file.size(); ++a)
    for (size_t b = 0; b < file.size(); ++b)
      EXPECT_EQ(hint.write_time[a] < hint.write_time[b], file[a] < file[b]);
}

TEST(Hint, StatedOrdersAreFollowed) {
  const std::vector<sample::Txn> txns = {
      {1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {w("x", 3)}}, {4, {sample::r("x", 2)}}};
  const Hint hint = hint_of(txns, {{"x", {3, 2, 1}}});
  const Times& time = hint.write_time;
  EXPECT_LT(time[2], time[1]);
  EXPECT_LT(time[1], time[3]);
  EXPECT_LT(time[3], time[0]);  // the reader comes before who overwrote what it read
}

// Write skew has no order of transactions, but one of their reads and writes.
TEST(Hint, StatedOrdersWithoutAnOrderOfTransactions) {
  const std::vector<sample::Txn> txns = {{1, {w("x", 1), w("y", 1)}},
                                         {2, {sample::r("x", 1), sample::r("y", 1), w("x", 2)}},
                                         {3, {sample::r("x", 1), sample::r("y", 1), w("y", 3)}}};
  const Hint hint = hint_of(txns, {{"x", {1, 2}}, {"y", {1, 3}}});
  EXPECT_LT(hint.read_time[1], hint.write_time[2]);
  EXPECT_LT(hint.read_time[2], hint.write_time[1]);
}

TEST(Hint, AnOrderGivesThePlacesOfItsEvents) {
  const History h = make_history({{1, {w("x", 1)}},
                                  {2, {w("x", 2)}, TxnStatus::aborted},  // no node
                                  {2, {w("y", 1)}},
                                  {2, {w("y", 2)}, TxnStatus::unknown},
                                  {1, {sample::r("y", 1)}}});
  Budget budget;
  const std::vector<TxnId> possible = {3};
  const Problem problem = make_problem(h, {}, budget, {.possible = possible});
  Hint hint = hint_of_order(problem, {.split = false, .events = {2, 0, 4}, .sources = {}});
  EXPECT_EQ(hint.write_time, (Times{1, 0, 0, 2}));  // the last of session 2 took no effect
  EXPECT_EQ(hint.read_time, hint.write_time);
  EXPECT_TRUE(hint.by_order);
  hint = hint_of_order(problem, {.split = true, .events = {4, 0, 5, 6, 8, 1, 7, 9}, .sources = {}});
  EXPECT_EQ(hint.read_time, (Times{1, 0, 3, 4}));
  EXPECT_EQ(hint.write_time, (Times{5, 2, 6, 7}));
}

TEST(Hint, TimesOfSomeTransactionsOnlyAreNotUsed) {
  const Hint hint = hint_of({{1, {}, TxnStatus::committed, 500, 600}, {2}, {1}, {2}, {1}});
  EXPECT_EQ(hint.write_time, (Times{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace assay::internal
