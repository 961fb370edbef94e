#include "infer/stated_sources.h"

#include <gtest/gtest.h>

#include <string>

#include "oracle/draft.h"

namespace assay::internal {
namespace {

constexpr int kInitial = DraftOp::kInitialState;

DraftOp write(int64_t value) { return {.kind = OpKind::write, .value = value}; }
DraftOp read(DraftValue value, int source) {
  DraftOp op{.value = value};
  op.source = source;
  return op;
}

// Transaction 0 writes x = 1, transaction 1 x = 1 and x = 2, transaction 2 does what is given.
History with(std::vector<DraftOp> reads, TxnStatus status = TxnStatus::committed) {
  Draft draft;
  draft.txns.resize(3);
  for (int t = 0; t < 3; ++t) draft.txns[static_cast<size_t>(t)].session = t;
  draft.txns[0].ops = {write(1)};
  draft.txns[1].ops = {write(1), write(2)};
  draft.txns[2].ops = std::move(reads);
  draft.txns[2].status = status;
  Result<History> history = draft.history();
  EXPECT_TRUE(history.ok());
  return std::move(*history);
}
constexpr OpId kFirst = 3;  // operation of transaction 2

TEST(StatedSource, IsWhatTheReadShows) {
  EXPECT_EQ(stated_source(with({read(1, 0)}), kFirst), 0u);
  EXPECT_EQ(stated_source(with({read(1, 1)}), kFirst), 1u);
  EXPECT_EQ(stated_source(with({read({}, kInitial)}), kFirst), kInitialTxn);
  EXPECT_EQ(stated_source(with({read(1, 0), write(3), read(3, 2)}), kFirst + 2), kNone);
}

TEST(StatedSource, SaysNothingWhereItContradicts) {
  EXPECT_EQ(stated_source(with({read(2, 0)}), kFirst), kNone);
  EXPECT_EQ(contradicted_source(with({read(2, 0)})),
            "a read of x by 3-0 is stated to be from 1-0, which does not have 2 there");
  EXPECT_EQ(
      contradicted_source(with({read(1, kInitial)})),
      "a read of x by 3-0 is stated to be from the initial state, which does not have 1 there");
  EXPECT_EQ(contradicted_source(with({write(1), read(1, 0)})),
            "a read of x by 3-0 is stated to be from 1-0, and 3-0 itself had written the key");
  EXPECT_EQ(contradicted_source(with({write(1), read(1, 2)})), "");
  EXPECT_EQ(contradicted_source(with({read(1, 2), write(1)})),
            "a read of x by 3-0 is stated to be from 3-0, which does not have 1 there");
}

TEST(StatedSource, WhatAnAbortedTransactionStatesContradictsNothing) {
  EXPECT_EQ(contradicted_source(with({read(2, 0)}, TxnStatus::aborted)), "");
  EXPECT_NE(contradicted_source(with({read(2, 0)}, TxnStatus::unknown)), "");
}

TEST(StatedSource, ItsWriteIsTheLastThatShows) {
  EXPECT_EQ(stated_write(with({read(1, 1)}), kFirst, 1), 1u);
  EXPECT_EQ(stated_write(with({read(2, 1)}), kFirst, 1), 2u);
  EXPECT_EQ(stated_write(with({read(2, 0)}), kFirst, 0), kNone);
}

}  // namespace
}  // namespace assay::internal
