#include "history/projection.h"

#include <gtest/gtest.h>

#include <vector>

#include "oracle/draft.h"

namespace assay::internal {
namespace {

DraftOp write_of(int64_t value) { return {.kind = OpKind::write, .value = value}; }
DraftOp read_of(DraftValue value) { return {.kind = OpKind::read, .value = value}; }

// Transaction 1 reads what 0 wrote and overwrites it; the write goes. Says how many operations
// stay.
OpId kept_without_the_update(bool with_a_range) {
  Draft draft;
  draft.txns.resize(3);
  for (int t = 0; t < 3; ++t) draft.txns[static_cast<size_t>(t)].session = t;
  draft.txns[0].ops = {write_of(1)};
  draft.txns[1].ops = {read_of(1), write_of(2)};
  draft.txns[2].ops = {read_of(1)};
  if (with_a_range) draft.txns[2].ops.push_back({.kind = OpKind::range, .key = 1, .hi = 2});
  const Result<History> history = draft.history();
  EXPECT_TRUE(history.ok());
  std::vector<bool> keep(history->op_count(), true);
  keep[2] = false;
  const Result<History> part = project(*history, keep);
  EXPECT_TRUE(part.ok());
  return part->op_count();
}

// Its read alone would make a cycle of what was none at pl-2.99, which asks who overwrote what was
// read, and whether a range found it.
TEST(Projection, WhoLosesTheUpdateLosesItsReadWhereThereAreRanges) {
  EXPECT_EQ(kept_without_the_update(false), 3u);
  EXPECT_EQ(kept_without_the_update(true), 3u) << "the first write, another's read and the range";
}

}  // namespace
}  // namespace assay::internal
