#include "formats/streamed_builder.h"

#include <gtest/gtest.h>

#include <string>

#include "assay/format.h"
#include "formats/mixed_history.h"

namespace assay::internal::formats {
namespace {

constexpr const char* kParsedInTurn[] = {"hist",       "jepsen",     "elle-json", "dbcop",
                                         "dbcop-json", "dbcop-text", "timekiller"};

// What reading a text comes to: the history, or why there is none.
std::string outcome(const std::string& text, const std::string& format, unsigned threads,
                    Budget* budget = nullptr) {
  auto read =
      read_history_text(text, "memory", {.from = format, .budget = budget, .threads = threads});
  if (!read.ok()) return read.error().to_string();
  std::string all = read->history.content_hash();
  for (const ReadNote& note : read->notes) all += "\n" + note.message;
  return all;
}

TEST(StreamedBuilder, TheSameForEveryNumberOfThreads) {
  for (const bool registers : {false, true}) {
    MixedHistoryOptions shape;
    shape.txns = 20'000;  // many batches
    shape.registers_only = registers;
    const History history = MixedHistory(7, shape).build();
    for (const std::string format : kParsedInTurn) {
      SCOPED_TRACE(format);
      std::string text;
      if (!write_history_text(history, format, text).ok()) continue;  // holds only some operations
      const std::string one = outcome(text, format, 1);
      EXPECT_EQ(one, outcome(text, format, 2));
      EXPECT_EQ(one, outcome(text, format, 5));
    }
  }
}

TEST(StreamedBuilder, AFaultIsTheSameForEveryNumberOfThreads) {
  MixedHistoryOptions shape;
  shape.txns = 20'000;
  std::string text;
  ASSERT_TRUE(write_history_text(MixedHistory(8, shape).build(), "hist", text).ok());
  const size_t middle = text.find('\n', text.size() / 2);
  ASSERT_NE(middle, text.npos);
  text.insert(middle + 1, "1: { w(x 1) }\n");
  const std::string one = outcome(text, "hist", 1);
  EXPECT_NE(one.find("memory:"), one.npos) << one;
  EXPECT_EQ(one, outcome(text, "hist", 2));
}

TEST(StreamedBuilder, TellsWhoeverAsksTheBudgetThatItRanOut) {
  MixedHistoryOptions shape;
  shape.txns = 60'000;
  std::string text;
  ASSERT_TRUE(write_history_text(MixedHistory(9, shape).build(), "hist", text).ok());
  for (const unsigned threads : {1u, 2u}) {
    Budget budget(0, 1);  // a byte of memory
    const std::string told = outcome(text, "hist", threads, &budget);
    EXPECT_NE(told.find("memory"), told.npos) << told;
    EXPECT_TRUE(budget.cause().has_value());
  }
}

TEST(StreamedBuilder, WhatIsTakenDownMayEndWhenTheCallReturns) {
  StreamedBuilder builder(nullptr, 2);
  for (int64_t t = 0; t < 10'000; ++t) {
    std::string session = "session " + std::to_string(t % 3), key = "key " + std::to_string(t % 7),
                value = "value " + std::to_string(t), name = "T" + std::to_string(t);
    builder.begin_txn({.session = ValueView::of(std::string_view(session)), .name = name});
    builder.add(
        Op::write(ValueView::of(std::string_view(key)), ValueView::of(std::string_view(value))));
    ASSERT_TRUE(builder.end_txn().ok());
    session = key = value = name = std::string(20, '?');
  }
  const Result<History> history = std::move(builder).finish();
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->txn_count(), 10'000u);
  EXPECT_EQ(history->session_count(), 3u);
  EXPECT_EQ(history->key_count(), 7u);
  EXPECT_EQ(history->version_value(history->op(9'999).version).text, "value 9999");
  EXPECT_EQ(history->name(9'999), "T9999");
}

TEST(StreamedBuilder, MayBeLeftInTheMiddle) {
  StreamedBuilder builder(nullptr, 2);
  for (int64_t t = 0; t < 100'000; ++t) {
    builder.begin_txn({.session = ValueView::of(int64_t{1})});
    builder.add(Op::write(ValueView::of(t), ValueView::of(t)));
    ASSERT_TRUE(builder.end_txn().ok());
  }
}

}  // namespace
}  // namespace assay::internal::formats
