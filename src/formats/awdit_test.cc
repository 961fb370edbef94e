#include <gtest/gtest.h>

#include <filesystem>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"
#include "formats/mixed_history.h"
#include "formats/shared_data.h"

namespace assay::internal {
namespace {

TEST(Awdit, SessionsAndTransactions) {
  auto a =
      read_history_text("w 0 0\nw 1 0\n=====\nr 0 0\r\n---\n\nr 1 0 \n------\n=\n= \nw 0 1", "f");
  ASSERT_TRUE(a.ok()) << a.error().to_string();
  EXPECT_EQ(a->format, "awdit");
  // The first transaction is the initial state.
  auto b = read_history_text("initial 0\n0: { r(0,0) } { r(1,0) }\n2: { w(0,1) }\n", "w", {"hist"});
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(a->history.content_hash(), b->history.content_hash());
}

// Alone in the first session, 0 to every key, and nobody else writes 0: else a transaction like
// any.
TEST(Awdit, WhatIsNoInitialState) {
  auto same = [](std::string_view awdit, std::string_view hist) {
    formats::expect_same_history("awdit", awdit, hist);
  };
  same("w 0 0\n---\nw 0 1\n===\nr 0 0\n", "0: { w(0,0) } { w(0,1) }\n1: { r(0,0) }\n");
  same("w 0 1\n===\nr 0 1\n", "0: { w(0,1) }\n1: { r(0,1) }\n");
  same("w 0 0\n===\nr 0 0\nw 1 5\n", "0: { w(0,0) }\n1: { r(0,0) w(1,5) }\n");
  same("w 0 0\n===\nr 0 0\nw 0 0\n", "0: { w(0,0) }\n1: { r(0,0) w(0,0) }\n");
  same("w 0 0\nw 0 0\n===\nr 0 0\n", "0: { w(0,0) w(0,0) }\n1: { r(0,0) }\n");
  same("w 0 0\nr 0 0\n===\nr 0 0\n", "0: { w(0,0) r(0,0) }\n1: { r(0,0) }\n");
}

TEST(Awdit, RefusesBadLinesAtTheirPlace) {
  auto refuse = [](std::string_view text, uint64_t line, uint64_t column, const std::string& part) {
    formats::expect_bad_input("awdit", text, line, column, part);
  };
  refuse("w 0 0\nx 0 0\n", 2, 1, "expected an operation like");
  refuse("w x 0\n", 1, 3, "an integer of 64 bits");
  refuse("w 0\n", 1, 4, "a blank and the value");
  refuse("w 0 y\n", 1, 5, "an integer of 64 bits");
  refuse("w 0 1 2\n", 1, 7, "the end of the line");
  refuse("--=--\n", 1, 1, "a line of -");
}

TEST(Awdit, RoundTripOfRegisterHistories) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    formats::MixedHistoryOptions plain{.strings = false,
                                       .registers_only = true,
                                       .times = false,
                                       .aborted = false,
                                       .unknown = false};
    History h = formats::MixedHistory(seed, plain).build();
    std::string text, second;
    ASSERT_TRUE(write_history_text(h, "awdit", text).ok());
    auto again = read_history_text(text, "x", {"awdit"});
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    auto losses = write_history_text(again->history, "awdit", second);
    ASSERT_TRUE(losses.ok());
    for (const Loss& l : *losses) EXPECT_EQ(l.what, "names of transactions") << text;
    EXPECT_EQ(text, second);
  }
}

TEST(Awdit, WritesInitialValuesFirst) {
  auto r = read_history_text("0: { r(x,null) } { r(y,null) w(x,5) }\n", "x", {"hist"});
  ASSERT_TRUE(r.ok());
  std::string text;
  auto losses = write_history_text(r->history, "awdit", text);
  ASSERT_TRUE(losses.ok());
  EXPECT_EQ(text, "w 0 0\nw 1 0\n=====\nr 0 0\n-----\nr 1 0\nw 0 5\n");
  ASSERT_EQ(losses->size(), 2u);
  EXPECT_EQ((*losses)[0].count, 2u);
}

TEST(Awdit, ReadsRealFiles) {
  namespace fs = std::filesystem;
  const fs::path data = formats::shared_data();
  if (data.empty()) GTEST_SKIP() << "no shared data";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(data / "awdit")) {
    if (!entry.is_regular_file()) continue;
    ++files;
    auto r = read_history(entry.path().string());
    ASSERT_TRUE(r.ok()) << r.error().to_string();
    EXPECT_EQ(r->format, "awdit");
    EXPECT_GT(r->history.txn_count(), 1u);
  }
  EXPECT_EQ(files, 9);
}

}  // namespace
}  // namespace assay::internal
