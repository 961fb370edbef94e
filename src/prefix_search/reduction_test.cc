#include "prefix_search/reduction.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using namespace sample;
using enum LevelId;

std::vector<std::string> keys_of_reduction(const History& h, LevelId level) {
  const Result<History> reduced = reduce_to_serializability(h, level);
  EXPECT_TRUE(reduced.ok());
  std::vector<std::string> keys;
  for (KeyId key = 0; reduced.ok() && key < reduced->key_count(); ++key)
    keys.push_back(reduced->key(key).to_string());
  return keys;
}

// Two writers of x keep each other out by two keys, which are other keys than those that there are.
TEST(Reduction, NewKeysAreNoneOfTheHistory) {
  const std::vector<Txn> txns = {{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {w("lock 1-0/2-0", 7)}}};
  EXPECT_EQ(keys_of_reduction(make_history(txns), session_si).size(), 4u);
  EXPECT_EQ(keys_of_reduction(make_history(txns), prefix).size(), 2u);
}

// Its session does not go on behind an unknown outcome, so that a key of its own ties the two
// halves of the transaction.
TEST(Reduction, AnUnknownOutcomeIsTiedTogether) {
  const auto txns = [](TxnStatus status) {
    std::vector<Txn> all = {{1, {r("x", kNull), w("x", 1)}}, {2, {r("x", 1)}}};
    all[0].status = status;
    return make_history(all);
  };
  EXPECT_EQ(keys_of_reduction(txns(TxnStatus::committed), prefix).size(), 1u);
  EXPECT_EQ(keys_of_reduction(txns(TxnStatus::unknown), prefix).size(), 2u);
}

}  // namespace
}  // namespace assay::internal
