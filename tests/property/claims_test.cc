// The verifier accepts no false claim about a small history, whoever makes it. claims.h says which
// claims.
#include "claims.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cases.h"

namespace assay::internal {
namespace {

TEST(Claims, AcceptedOnesAreTrue) {
  Rng rng(rotated(41));
  Claims claims(rng, scaled(150, 20));
  const uint64_t wanted = scaled(3'000'000, 200'000);
  constexpr uint64_t kMostHistories = 1000;
  const auto judged_all = [&] {  // some kinds are rarely accepted
    const auto& counts = claims.counts();
    return !counts.empty() && std::all_of(counts.begin(), counts.end(),
                                          [](const auto& kind) { return kind.second.judged > 0; });
  };
  for (uint64_t i = 0; claims.total().offered < wanted || (!judged_all() && i < kMostHistories);
       ++i)
    ASSERT_TRUE(claims.offer_all(claim_history(rng, i))) << claims.lie();
  // Of each kind some are accepted, and judged.
  for (const auto& [kind, counts] : claims.counts()) {
    EXPECT_GT(counts.judged, 0u) << kind;
    EXPECT_LT(counts.accepted, counts.offered / 2) << kind;
  }
  EXPECT_EQ(claims.counts().size(), 9u);
}

Draft lists(std::vector<std::vector<DraftOp>> txns, std::vector<int> sessions) {
  Draft draft;
  for (size_t t = 0; t < txns.size(); ++t)
    draft.txns.push_back({.session = sessions[t], .ops = txns[t]});
  return draft;
}
DraftOp append(int64_t v) { return {.kind = OpKind::append, .value = v}; }
DraftOp read(std::vector<int64_t> list) {
  return {.kind = OpKind::read_list, .list = std::move(list)};
}

// Two histories about which false claims were accepted once.
TEST(Claims, ElementsOfSeveralAndOnesOwn) {
  Rng rng(rotated(42));
  Claims claims(rng, scaled(2'000, 300));
  EXPECT_TRUE(claims.offer_all(
      lists({{append(5)}, {append(6)}, {read({5, 6})}, {append(5)}}, {1, 1, 1, 2})))
      << claims.lie();
  EXPECT_TRUE(claims.offer_all(lists(
      {{append(5)}, {append(7), read({5, 7})}, {append(6)}, {read({5, 6, 7})}}, {1, 2, 3, 4})))
      << claims.lie();
}

}  // namespace
}  // namespace assay::internal
