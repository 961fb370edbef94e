#include "formats/facts.h"

#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"

namespace assay::internal {
namespace {

std::string facts_of(std::string_view hist, std::vector<Loss>* losses = nullptr) {
  auto history = read_history_text(hist, "history", {"hist"});
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  std::string text;
  auto lost = write_history_text(history->history, "facts", text);
  EXPECT_TRUE(lost.ok());
  if (losses != nullptr) *losses = *lost;
  return text.substr(text.find('\n') + 1);
}

TEST(Facts, ARowForEachTransactionAndKey) {
  EXPECT_EQ(facts_of("1: @[10,20] { r(x,null) w(x,1) w(x,2) r(x,2) r(y,\"7\") }\n"),
            "1-0,1,0,false,10,10,20,20,20,10,20,x,true,,true,2,false,,\n"
            "1-0,1,0,false,10,10,20,20,20,10,20,y,true,\"\"\"7\"\"\",false,,false,,\n");
}

TEST(Facts, WhatATransactionContradictsInItselfIsKept) {
  EXPECT_EQ(facts_of("1: { w(x,1) r(x,3) w(x,2) }\n"),
            "1-0,1,0,false,,,,,0,0,0,x,false,,true,2,true,1,3\n");
  EXPECT_EQ(facts_of("1: { r(x,1) r(x,null) }\n"),
            "1-0,1,0,false,,,,,0,0,0,x,true,1,false,,true,1,\n");
}

// It has its place before the first who read it, and at most as long after its begin as others
// take.
TEST(Facts, AnUnknownOutcomeComesBeforeItsReaderOrNotAtAll) {
  std::vector<Loss> losses;
  const std::string rows = facts_of(
      "1: @[0,100] { w(y,1) }\n2: @[10,_] { w(x,1) }?\n3: @[50,60] { r(x,1) }\n4: @[0,_] { w(z,1) "
      "}?\n",
      &losses);
  EXPECT_NE(rows.find("2-0,2,0,true,10,10,,,59,10,49,x,false,,true,1,"), std::string::npos) << rows;
  EXPECT_EQ(rows.find("4-0,"), std::string::npos) << rows;
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].what, "transactions of unknown outcome that nothing read");
}

// The table holds no value of a deletion.
TEST(Facts, AReadOfATombstoneFindsAnAbsentKey) {
  std::vector<Loss> losses;
  EXPECT_EQ(facts_of("0: T0 { d(b,t1) }\n1: T1 { r(b,t1) r(b,null) }\n", &losses),
            "T0,0,0,false,,,,,0,0,0,b,false,,true,,false,,\n"
            "T1,1,0,false,,,,,1,1,1,b,true,,false,,false,,\n");
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses[0].what, "operations visible only to their own transaction");
  EXPECT_EQ(losses[1].what, "which deletion a read saw");
  EXPECT_EQ(losses[1].count, 1u);
  EXPECT_EQ(facts_of("0: T0 { d(b,t1) r(b,t1) r(b,null) }\n"),
            "T0,0,0,false,,,,,0,0,0,b,false,,true,,false,,\n");
}

TEST(Facts, ReadsWhatItWrites) {
  for (const std::string_view history :
       {"1: @[10,20] { r(x,null) w(x,1) } @[30,[40,50]] { d(x,\"deleted by 1-1\") }\n2: @[5,9] { "
        "r(\"a,b\",\"q\"\"\") }\n",
        "1: { w(x,1) r(x,3) w(x,2) }\n", "1: { r(x,1) r(x,null) }\n"}) {
    auto read = read_history_text(history, "history", {"hist"});
    if (!read.ok()) continue;
    std::string text;
    ASSERT_TRUE(write_history_text(read->history, "facts", text).ok());
    formats::expect_same_history("facts", text, history);
  }
}

TEST(Facts, ColumnsByNameInAnyOrder) {
  formats::expect_same_history("facts",
                               "item,session_id,txn,other,writes,written,seen,reads\n"
                               "x,1,a,?,true,5,,false\ny,1,a,?,f,,7,t\n",
                               "1: { w(x,5) r(y,7) }\n");
}

TEST(Facts, BadInput) {
  const std::string head =
      "txn,session_id,place,item,reads,seen,writes,written,contradicts,expected,instead,began,"
      "began_by\n";
  const auto bad = [&](const std::string& row, uint64_t column, const std::string& what) {
    formats::expect_bad_input("facts", head + row, 2, column, what);
  };
  bad(",1,0,x,true,1,false,,,,,,\n", 1, "name of a transaction");
  bad("a,,0,x,true,1,false,,,,,,\n", 3, "a session");
  bad("a,1,0,,true,1,false,,,,,,\n", 7, "a key");
  bad("a,1,zero,x,true,1,false,,,,,,\n", 5, "an integer");
  bad("a,1,0,x,maybe,1,false,,,,,,\n", 9, "true or false");
  bad("a,1,0,x,true,\"\"\"1\",false,,,,,,\n", 14, "a JSON string");
  bad("a,1,0,x,true,1,false,,,,,20,10\n", 29, "not before began");
  bad("a,1,0,x,true,1,false,,true,1,1,,\n", 0, "different values");
  formats::expect_bad_input("facts",
                            head + "a,1,0,x,true,1,false,,,,,,\na,1,0,x,true,1,false,,,,,,\n", 3, 0,
                            "two rows of one item");
  formats::expect_bad_input("facts",
                            head + "a,1,0,x,true,1,false,,,,,,\na,2,0,y,true,1,false,,,,,,\n", 3, 0,
                            "two sessions");
  formats::expect_bad_input("facts", "session_id,item\n", 1, 1, "expected a header");
}

}  // namespace
}  // namespace assay::internal
