#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/mixed_history.h"
#include "formats/shared_data.h"

namespace assay::internal {
namespace {

void expect_polysi_is(std::string_view polysi, std::string_view hist, size_t notes = 0) {
  auto a = read_history_text(polysi, "file", {"polysi"});
  ASSERT_TRUE(a.ok()) << a.error().to_string();
  auto b = read_history_text(hist, "want", {"hist"});
  ASSERT_TRUE(b.ok()) << b.error().to_string();
  EXPECT_EQ(a->history.content_hash(), b->history.content_hash());
  EXPECT_EQ(a->notes.size(), notes);
}

TEST(Polysi, TransactionsByFirstAppearanceEvenWhenInterleaved) {
  expect_polysi_is("w(1,1,0,5)\nw(2,2,1,6)\n\nr(1,1,0,5) \r\nr(1,-7,0,4)\n",
                   "initial 0\n0: { w(1,1) r(1,1) }\n1: { w(2,2) }\n0: { r(1,-7) }\n");
}

TEST(Polysi, MinusOneIsAborted) {
  expect_polysi_is("w(1,1,0,-1)\nw(1,2,0,-1)\nw(1,3,0,1)\nw(1,4,0,-1)\n",
                   "initial 0\n0: { w(1,1) w(1,2) }! { w(1,3) } { w(1,4) }!\n");
}

TEST(Polysi, IdsReusedBySessionsAreDifferentTransactions) {
  expect_polysi_is("w(1,1,0,0)\nr(1,1,1,0)\nr(1,1,0,0)\n",
                   "initial 0\n0: { w(1,1) r(1,1) }\n1: { r(1,1) }\n", 1);
}

TEST(Polysi, AnInitialTransactionIsTheInitialState) {
  expect_polysi_is("w(1,0,-1,0)\nw(2,0,-1,0)\nr(1,0,1,1)\n", "initial 0\n1: { r(1,0) }\n", 1);
  // It is not one when its session goes on.
  expect_polysi_is("w(1,0,1,0)\nr(1,0,1,1)\n", "initial 0\n1: { w(1,0) } { r(1,0) }\n");
}

TEST(Polysi, RefusesBadLinesAtTheirPlace) {
  auto refuse = [](std::string_view text, uint64_t line, uint64_t column, const std::string& part) {
    formats::expect_bad_input("polysi", text, line, column, part);
  };
  refuse("w(1,1,0,5)\nx(1,1,0,5)\n", 2, 1, "expected an operation like");
  refuse("w(a,1,0,5)\n", 1, 3, "an integer of 64 bits");
  refuse("w(1;1,0,5)\n", 1, 4, "expected ','");
  refuse("w(1,99999999999999999999,0,5)\n", 1, 5, "an integer of 64 bits");
  refuse("w(1,1,0)\n", 1, 8, "expected ','");
  refuse("w(1,1,0,5\n", 1, 10, "expected ')'");
  refuse("w(1,1,0,5) r\n", 1, 12, "the end of the line");
}

TEST(Polysi, RoundTripOfRegisterHistories) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    formats::MixedHistoryOptions plain{.strings = false,
                                       .registers_only = true,
                                       .times = false,
                                       .aborted = false,
                                       .unknown = false};
    History h = formats::MixedHistory(seed, plain).build();
    std::string text, second;
    ASSERT_TRUE(write_history_text(h, "polysi", text).ok());
    auto again = read_history_text(text, "x", {"polysi"});
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    ASSERT_EQ(again->history.op_count(), h.op_count());
    ASSERT_TRUE(again->notes.empty());
    ASSERT_TRUE(write_history_text(again->history, "polysi", second).ok());
    auto third = read_history_text(second, "x", {"polysi"});
    ASSERT_TRUE(third.ok());
    EXPECT_EQ(third->history.content_hash(), again->history.content_hash());
  }
}

// The format has no name for an aborted transaction that would tell it from its neighbour.
TEST(Polysi, NeighbouringAbortedTransactionsAreReportedAsLost) {
  const auto losses = [](std::string_view hist) {
    auto h = read_history_text(hist, "x", {"hist"});
    EXPECT_TRUE(h.ok());
    std::string text;
    auto lost = write_history_text(h->history, "polysi", text);
    EXPECT_TRUE(lost.ok());
    return lost->size();
  };
  EXPECT_EQ(losses("initial 0\n0: { w(1,1) }! { w(1,2) }!\n"), 1u);
  EXPECT_EQ(losses("initial 0\n0: { w(1,1) }! { r(1,0) } { w(1,2) }!\n1: { w(1,3) }!\n"), 0u);
}

TEST(Polysi, ReadsRealFiles) {
  const auto data = formats::shared_data();
  if (data.empty()) GTEST_SKIP() << "no shared data";
  for (const char* name : {"galera/galera.txt", "yugabyte/yugabyte.txt"}) {
    auto r = read_history((data / "polysi" / "violations" / name).string());
    ASSERT_TRUE(r.ok()) << r.error().to_string();
    EXPECT_EQ(r->format, "polysi");
    EXPECT_GT(r->history.txn_count(), 4u);
  }
}

}  // namespace
}  // namespace assay::internal
