#include "explain/witness.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::kAborted;
using sample::make_history;
using sample::r;
using sample::w;

// The transactions that stay of a history if this one is to be explained.
std::vector<TxnId> kept(const std::vector<sample::Txn>& txns, TxnId explained) {
  const History history = make_history(txns);
  const std::optional<Witness> witness = Witness::of(history, {explained});
  return witness ? witness->transactions_of(history) : std::vector<TxnId>{};
}

TEST(Witness, HasWhoWroteWhatWasSeenAndNobodyElse) {
  EXPECT_EQ(kept({{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {r("x", 1)}}}, 2),
            (std::vector<TxnId>{0, 2}));
}

TEST(Witness, HasAllThatMayHaveWrittenWhatWasSeen) {
  EXPECT_EQ(
      kept({{1, {w("x", 1)}}, {2, {w("x", 1)}, kAborted}, {3, {r("x", 1)}}, {4, {w("y", 1)}}}, 2),
      (std::vector<TxnId>{0, 1, 2}));
}

}  // namespace
}  // namespace assay::internal
