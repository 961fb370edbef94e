#include "watch/late_effects.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "history/test_history.h"

namespace assay::internal::watch {
namespace {

LateTxn late_txn(uint64_t number, uint64_t place, const std::string& key) {
  LateTxn p;
  p.member.piece = std::make_shared<const History>(
      sample::make_history({{1, {sample::w(key, static_cast<int64_t>(number))}}}));
  p.member.txn = 0;
  p.member.number = p.member.line = number;
  p.member.status = TxnStatus::unknown;
  p.place = place;
  return p;
}

std::vector<uint64_t> numbers(std::span<const LateWrite> writers) {
  std::vector<uint64_t> all;
  for (const LateWrite& m : writers) all.push_back(m.number);
  return all;
}
using Numbers = std::vector<uint64_t>;

// Who stands before a place is overwritten by whoever writes behind it, and not who stands at it or
// later.
TEST(LateEffects, AWriterMasksThoseBefore) {
  const ValueView x = ValueView::of("x");
  LateEffects late;
  late.add(late_txn(3, 9, "x"));
  late.add(late_txn(1, 5, "x"));
  late.add(late_txn(2, 7, "x"));
  late.add(late_txn(4, 1, "y"));
  EXPECT_EQ(numbers(late.writers_of(x)), (Numbers{1, 2, 3}));
  const std::vector<LateWrite> masked = late.mask(x, 7);
  EXPECT_EQ(numbers(masked), Numbers{1});
  EXPECT_EQ(numbers(late.writers_of(x)), (Numbers{2, 3}));
  EXPECT_EQ(late.shown(1), 0u);
  EXPECT_EQ(late.shown(2), 1u);
  late.unmask(masked[0]);
  EXPECT_EQ(numbers(late.writers_of(x)), (Numbers{1, 2, 3}));
  EXPECT_EQ(late.shown(1), 1u);
  EXPECT_EQ(numbers(late.mask(x, 100)), (Numbers{1, 2, 3}));
  EXPECT_TRUE(late.writers_of(x).empty());
  EXPECT_EQ(numbers(late.writers_of(ValueView::of("y"))), Numbers{4});
}

}  // namespace
}  // namespace assay::internal::watch
