#include "collect/sql_script.h"

#include <gtest/gtest.h>

#include <sstream>

#include "assay/format.h"

namespace assay::internal::collect {
namespace {

History history(std::string_view text) {
  auto read = read_history_text(text, "test", {"hist"});
  EXPECT_TRUE(read.ok()) << read.error().to_string();
  return std::move(read->history);
}

// "b1 r1 w1 c1": begin, reads, changes and commits with the number of the transaction, from 1; each
// is the only one of its session.
std::string order_of(std::string_view text) {
  const History h = history(text);
  const auto script = sql_script(h, "");
  EXPECT_TRUE(script.ok()) << script.error().to_string();
  std::string out;
  std::istringstream lines(script.ok() ? *script : "");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("/*")) continue;
    const size_t statement = line.find("*/ ") + 3;
    TxnId t = 0;
    while (line.find(": " + h.name(t) + " */") == line.npos) ++t;
    const char first = line[statement];
    const char what = first == 'S'                   ? 'r'
                      : first == 'U' || first == 'I' ? 'w'
                      : first == 'R'                 ? 'a'
                                                     : static_cast<char>(first + 32);
    out += (out.empty() ? "" : " ") + std::string(1, what) + std::to_string(t + 1);
  }
  return out;
}

TEST(SqlScript, TransactionsTakeTheTurnsThatTheirTimesGive) {
  EXPECT_EQ(order_of("s1: @[0,120] { w(x,1) }\ns2: @[10,50] { w(y,1) }\n"), "b1 b2 w2 c2 w1 c1");
  EXPECT_EQ(order_of("s1: @[0,100] { w(x,1) }\ns2: @[200,300] { w(y,1) }!\n"), "b1 w1 c1 b2 w2 a2");
}

TEST(SqlScript, WithoutTimesTheyTakeTurns) {
  EXPECT_EQ(order_of("s1: { w(x,1) w(z,1) }\ns2: { w(y,1) w(u,2) }\n"), "b1 b2 w1 w2 w1 w2 c1 c2");
}

// The second reader began when the first had long committed, by the clocks; what it read says
// otherwise.
TEST(SqlScript, AReadComesWhenItSawTheLastThatWasCommitted) {
  EXPECT_EQ(order_of("s0: @[0,10] { w(x,1) }\n"
                     "s1: @[20,30] { r(x,1) w(x,2) }\n"
                     "s2: @[25,60] { r(x,1) w(x,3) }\n"),
            "b1 w1 c1 b2 r2 b3 w2 r3 c2 w3 c3");
}

TEST(SqlScript, WhatCannotBeOrderedSoIsPlayedByTime) {
  // An aborted read: nobody commits what was read before it is read.
  EXPECT_EQ(order_of("s1: @[0,100] { w(x,1) r(y,2) }\ns2: @[10,90] { w(y,2) r(x,1) }\n"),
            "b1 b2 w1 w2 r2 r1 c2 c1");
}

TEST(SqlScript, SaysWhatToTypeWhere) {
  const History h = history(
      "initial 0\n"
      "s1: T1 @[0,20] { r(x,0) w(x,1) }\n"
      "s2: T2 @[5,30] { r(x,0) w(y,\"it's\") }\n"
      "s2: T3 @[40,50] { ins(z,7) d(z,8) w(z,9) cas(x,1,5) }\n");
  const auto written = sql_script(h, "serializable");
  ASSERT_TRUE(written.ok()) << written.error().to_string();
  EXPECT_EQ(
      *written,
      "-- First, in any connection:\nDROP TABLE IF EXISTS kv;\nCREATE TABLE kv (k VARCHAR(200) "
      "PRIMARY KEY, v VARCHAR(200));\nINSERT INTO kv (k, v) VALUES ('x', '0');\nINSERT INTO kv (k, "
      "v) VALUES ('y', NULL);\n\n-- Then, with one connection per session, at isolation "
      "serializable, these lines in this order.\n/* s1: T1 */ BEGIN;\n/* s2: T2 */ BEGIN;\n/* s1: "
      "T1 */ SELECT v FROM kv WHERE k = 'x'; -- returned 0\n/* s1: T1 */ UPDATE kv SET v = '1' "
      "WHERE k = 'x';\n/* s2: T2 */ SELECT v FROM kv WHERE k = 'x'; -- returned 0\n/* s1: T1 */ "
      "COMMIT;\n/* s2: T2 */ UPDATE kv SET v = 'it''s' WHERE k = 'y';\n/* s2: T2 */ COMMIT;\n/* "
      "s2: T3 */ BEGIN;\n/* s2: T3 */ INSERT INTO kv (k, v) VALUES ('z', '7');\n/* s2: T3 */ "
      "DELETE FROM kv WHERE k = 'z';\n/* s2: T3 */ DELETE FROM kv WHERE k = 'z'; INSERT INTO kv "
      "(k, v) VALUES ('z', '9');\n/* s2: T3 */ UPDATE kv SET v = '5' WHERE k = 'x' AND v = "
      "'1';\n/* s2: T3 */ COMMIT;\n");
}

TEST(SqlScript, ListsAndRangesAreRefused) {
  const auto play = sql_script(history("s1: { a(l,1) }\n"), "");
  ASSERT_FALSE(play.ok());
  EXPECT_NE(play.error().message.find("s1-0 has an operation that SQL scripts do not support"),
            std::string::npos);
}

History one_write(std::string_view session, std::string_view name, ValueView value) {
  HistoryBuilder builder;
  builder.begin_txn({.session = ValueView::of(session), .name = name});
  builder.add(Op::write(ValueView::of("x"), value));
  EXPECT_TRUE(builder.end_txn().ok());
  auto built = std::move(builder).finish();
  EXPECT_TRUE(built.ok());
  return std::move(*built);
}

// A history may come from a stranger, and its script is run on somebody's server.
TEST(SqlScript, NamesCannotEndTheirComment) {
  const History h =
      one_write("a */ DROP TABLE users; /*", "T1\nDROP TABLE users;", ValueView::of(1));
  const auto written = sql_script(h, "");
  ASSERT_TRUE(written.ok()) << written.error().to_string();
  const std::string& script = *written;
  EXPECT_EQ(script.find("DROP TABLE users"), std::string::npos) << script;
  EXPECT_NE(script.find("/* a____DROP_TABLE_users____: T1_DROP_TABLE_users_ */ BEGIN;"),
            std::string::npos)
      << script;
}

TEST(SqlScript, TextsThatADialectCouldReadOtherwiseAreRefused) {
  for (const char* text : {"a\nDROP TABLE users;", "it\\'s", "\x7f"}) {
    const auto play = sql_script(one_write("s1", "T1", ValueView::of(text)), "");
    ASSERT_FALSE(play.ok());
    EXPECT_NE(play.error().message.find("a key or value with a backslash or a control character"),
              std::string::npos)
        << play.error().message;
  }
}

}  // namespace
}  // namespace assay::internal::collect
