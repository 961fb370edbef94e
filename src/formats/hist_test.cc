#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/mixed_history.h"

namespace assay::internal {
namespace {

History read_hist(std::string_view text) {
  auto r = read_history_text(text, "file", {"hist"});
  EXPECT_TRUE(r.ok()) << r.error().to_string();
  return r.ok() ? std::move(r->history) : History{};
}

void refuse_hist(std::string_view text, uint64_t line, uint64_t column, const std::string& part) {
  formats::expect_bad_input("hist", text, line, column, part);
}

// The same history in the native format.
void expect_same_as_jsonl(std::string_view hist, std::string_view jsonl) {
  auto other = read_history_text(jsonl, "other", {"assay"});
  ASSERT_TRUE(other.ok()) << other.error().to_string();
  EXPECT_EQ(read_hist(hist).content_hash(), other->history.content_hash()) << hist;
}

TEST(Hist, SessionsAndStatuses) {
  expect_same_as_jsonl(
      "# a comment\n"
      "s1: { w(x,1) w(y,1) } { r(x,2) } # another\n"
      "\n"
      "s2: { r(x,1) w(x,2) }! {}?\r\n"
      "  7 : { }\n"
      "s1:\n"
      "s1: { r( \"a b\" , null ) }",
      R"({"session":"s1","ops":[["w","x",1],["w","y",1]]}
{"session":"s1","ops":[["r","x",2]]}
{"session":"s2","status":"aborted","ops":[["r","x",1],["w","x",2]]}
{"session":"s2","status":"unknown","ops":[]}
{"session":7,"ops":[]}
{"session":"s1","ops":[["r","a b",null]]}
)");
}

TEST(Hist, EveryOperation) {
  expect_same_as_jsonl(
      "initial 0\n"
      "s: { r(x,[1,5]) r(x,[ ]) a(l,5) d(y,tomb) cas(z,4,5) cas(z,null,5)! ins(z,1) ins(z,2)! "
      "range(a..f,[b=4, c=7]) range(..,[]) range(a..,[]) range(..9,[1=-2]) }\n"
      "order x: 1 5 2\n",
      R"({"assay":1,"initial":0}
{"session":"s","ops":[["r","x",[1,5]],["r","x",[]],["append","l",5],["d","y","tomb"],["cas","z",4,5,true],["cas","z",null,5,false],["insert","z",1,true],["insert","z",2,false],["range","a","f",[["b",4],["c",7]]],["range",null,null,[]],["range","a",null,[]],["range",null,9,[[1,-2]]]]}
{"key":"x","order":[1,5,2]}
)");
}

TEST(Hist, OrdersThatNameTransactions) {
  const std::string hist =
      "s: t1 { w(x,1) d(x,gone) } { w(x,1) }\n"
      "order x: t1=1 t1=gone \"s-1\"=1 t1=null 1\n"
      "event {\"event\":\"complete\",\"at\":9}\n";
  expect_same_as_jsonl(hist, R"({"session":"s","txn":"t1","ops":[["w","x",1],["d","x","gone"]]}
{"session":"s","ops":[["w","x",1]]}
{"key":"x","order":[{"txn":"t1","value":1},{"txn":"t1","value":"gone"},{"txn":"s-1","value":1},{"txn":"t1","deleted":true},1]}
{"event":"complete","at":9}
)");
  std::string text;
  ASSERT_TRUE(write_history_text(read_hist(hist), "hist", text).ok());
  EXPECT_EQ(read_hist(text).content_hash(), read_hist(hist).content_hash()) << text;
  EXPECT_NE(text.find("order x: t1=1 t1=gone s-1=1 t1=gone 1"), std::string::npos) << text;
}

TEST(Hist, OutcomesThatAnEventSettles) {
  expect_same_as_jsonl(
      "s: {w(x,1)}? {w(x,2)}?\nevent {\"event\":\"settled\",\"aborted\":[\"s-1\"]}\n",
      R"({"session":"s","status":"unknown","ops":[["w","x",1]]}
{"session":"s","status":"aborted","ops":[["w","x",2]]}
)");
  refuse_hist("s: {}?\nevent {\"event\":\"settled\",\"at\":1,\"aborted\":[null]}\n", 2, 43,
              "an array of names");
}

TEST(Hist, ReadsThatStateTheirSource) {
  const std::string hist =
      "initial 0\ns: t1 { w(x,1) } \"t 2\" { w(x,1) d(y,gone) } { r(x,t1=1) r(x,\"t 2\"=1) "
      "r(x,null=0) "
      "r(y,\"t 2\"=null) r(x,1) }\n";
  expect_same_as_jsonl(hist, R"({"assay":1,"initial":0}
{"session":"s","txn":"t1","ops":[["w","x",1]]}
{"session":"s","txn":"t 2","ops":[["w","x",1],["d","y","gone"]]}
{"session":"s","ops":[["r","x",1,{"from":"t1"}],["r","x",1,{"from":"t 2"}],["r","x",0,{"from":null}],["r","y",null,{"from":"t 2"}],["r","x",1]]}
)");
  std::string text;
  ASSERT_TRUE(write_history_text(read_hist(hist), "hist", text).ok());
  EXPECT_EQ(read_hist(text).content_hash(), read_hist(hist).content_hash()) << text;
}

TEST(Hist, DeclaredLevels) {
  const std::string hist =
      "s: level[READ COMMITTED] { w(x,1) } t2 @[0,9] ts[1,2] level[serializable] { r(x,1) } { }\n";
  const History h = read_hist(hist);
  EXPECT_EQ(h.declared_level(0), LevelId::read_committed);
  EXPECT_EQ(h.declared_level(1), LevelId::serializable);
  EXPECT_EQ(h.declared_level(2), std::nullopt);
  std::string text;
  ASSERT_TRUE(write_history_text(h, "hist", text).ok());
  EXPECT_EQ(read_hist(text).content_hash(), h.content_hash()) << text;
  EXPECT_NE(read_hist("s: { w(x,1) } { r(x,1) } { }\n").content_hash(), h.content_hash());
  refuse_hist("s: level[strong] { }\n", 1, 10, "a level, such as");
  refuse_hist("s: level[serializable { }\n", 1, 10, "a level, such as");
}

TEST(Hist, NamesAndTimes) {
  History h = read_hist(
      "s: t1@[0,10] { } \"t 2\" @[11~12,_]{} @[ 20 , 21~29 ] ts[5,_] { } ts ts[_,6] { } 3-7{}\n"
      "event {\"event\":\"kill\",\"at\":15}\n"
      "event {\"event\":\"kill\"}\n"
      "meta {\"db\":\"pg\"}\n");
  ASSERT_EQ(h.txn_count(), 5u);
  EXPECT_EQ(h.name(0), "t1");
  EXPECT_EQ(h.begin_time(0), Interval::point(0));
  EXPECT_EQ(h.end_time(0), Interval::point(10));
  EXPECT_EQ(h.name(1), "t 2");
  EXPECT_EQ(h.begin_time(1), (Interval{11, 12}));
  EXPECT_FALSE(h.end_time(1).known());
  EXPECT_EQ(h.name(2), "s-2");
  EXPECT_EQ(h.end_time(2), (Interval{21, 29}));
  EXPECT_EQ(h.start_ts(2), 5);
  EXPECT_EQ(h.commit_ts(2), Interval::kUnknown);
  EXPECT_EQ(h.name(3), "ts");
  EXPECT_EQ(h.commit_ts(3), 6);
  EXPECT_EQ(h.name(4), "3-7");
  ASSERT_EQ(h.events().size(), 2u);
  EXPECT_EQ(h.events()[0].at, 15);
  EXPECT_EQ(h.events()[1].at, Interval::kUnknown);
  EXPECT_EQ(h.meta(), "{\"db\":\"pg\"}");
}

TEST(Hist, ValuesAreIntegersWordsOrQuoted) {
  History h =
      read_hist("s: { w(1,-5) w(x-1,a_B) w(\"1\",\"null\") w(\"a\\\"\\\\\\n\\x01\",\"}\") }\n");
  EXPECT_EQ(h.key(h.op(0).key), ValueView::of(1));
  EXPECT_EQ(h.version_value(h.op(0).version), ValueView::of(-5));
  EXPECT_EQ(h.key(h.op(1).key), ValueView::of("x-1"));
  EXPECT_EQ(h.key(h.op(2).key), ValueView::of("1"));
  EXPECT_EQ(h.version_value(h.op(2).version), ValueView::of("null"));
  EXPECT_EQ(h.key(h.op(3).key), ValueView::of("a\"\\\n\x01"));
  EXPECT_EQ(h.version_value(h.op(3).version), ValueView::of("}"));
}

TEST(Hist, RefusesBadLines) {
  refuse_hist("s1: { }\ns1 { }\n", 2, 4, "expected ':'");
  refuse_hist("{ }\n", 1, 1, "expected an integer, a word");
  refuse_hist("s: { } x\n", 1, 9, "expected '{'");
  refuse_hist("s: { } )\n", 1, 8, "a transaction");
  refuse_hist("initial x: 1\ns: { }\ninitial x: 1\n", 3, 0, "another initial value");
  refuse_hist("initial x: 1 2\n", 1, 14, "the end of the line");
  refuse_hist("initial null: 1\n", 1, 13, "a key");
  refuse_hist("s: { }\ninitial 0\n", 2, 1, "before the first transaction");
  refuse_hist("initial\n", 1, 8, "expected an integer");
  refuse_hist("initial 0 1\n", 1, 11, "the end of the line");
  refuse_hist("absent\n", 1, 7, "expected never-written");
  refuse_hist("s: { w(x,1) }\nabsent never-written\n", 2, 1, "before the first transaction");
  refuse_hist("order null: 1\n", 1, 7, "not null");
  refuse_hist("order x 1\n", 1, 9, "expected ':'");
  refuse_hist("order x: 1,2\n", 1, 11, "expected an integer");
  refuse_hist("event 5\n", 1, 7, "a JSON object");
  refuse_hist("event {\"a\" 1}\n", 1, 12, "not valid JSON: expected ':'");
  refuse_hist("event {\"at\":\"x\"}\n", 1, 13, "an integer");
  refuse_hist("s: { r(\"\xC3\",1) }\n", 1, 9, "invalid UTF-8");
}

TEST(Hist, RefusesBadTransactions) {
  refuse_hist("s: { r(x,1)\n", 1, 4, "no closing '}'");
  refuse_hist("s: { q(x,1) }\n", 1, 6, "expected an operation");
  refuse_hist("s: { r x }\n", 1, 8, "expected '('");
  refuse_hist("s: { r(x) }\n", 1, 9, "expected ','");
  refuse_hist("s: { r(x,1 }\n", 1, 12, "expected ')'");
  refuse_hist("s: { w(x,null) }\n", 1, 10, "not null");
  refuse_hist("s: { w(null,1) }\n", 1, 8, "not null");
  refuse_hist("s: { w(x,007) }\n", 1, 10, "must not start with 0");
  refuse_hist("s: { w(x,99999999999999999999) }\n", 1, 10, "64 bits");
  refuse_hist("s: { w(x,\"a) }\n", 1, 4, "no closing '}'");
  refuse_hist("s: { w(x,\"\\q\") }\n", 1, 11, "expected one of");
  refuse_hist("s: { w(x,\"\\x80\") }\n", 1, 11, "expected one of");
  refuse_hist("s: { r(x,[1 2]) }\n", 1, 13, "expected ',' or ']'");
  refuse_hist("s: { r(x,[1,]) }\n", 1, 13, "expected an integer");
  refuse_hist("s: { range(a,[]) }\n", 1, 13, "expected '..'");
  refuse_hist("s: { range(a..b,[c]) }\n", 1, 19, "expected '='");
  refuse_hist("s: { cas(a,1) }\n", 1, 13, "expected ','");
  refuse_hist("s: @[1 2] { }\n", 1, 8, "expected ','");
  refuse_hist("s: @[2~1,_] { }\n", 1, 9, "before the request");
  refuse_hist("s: @[x,_] { }\n", 1, 6, "or _ if not known");
  refuse_hist("s: ts[1] { }\n", 1, 8, "expected ','");
  refuse_hist("s: \"\" { }\n", 1, 4, "name of a transaction is empty");
  refuse_hist("s: \"a { }\n", 1, 4, "no closing quote");
  refuse_hist("s: @[5,3] { }\n", 1, 0, "ends before it begins");
}

TEST(Hist, IntervalsMayBeOpenAndOverlap) {
  constexpr std::string_view kText = "s: @[1~_,_] { w(x,1) }? @[2~9,2~9] { r(x,1) }\n";
  const History h = read_hist(kText);
  EXPECT_EQ(h.begin_time(0), Interval::from(1));
  EXPECT_EQ(h.end_time(1), (Interval{2, 9}));
  for (const char* format : {"hist", "assay"}) {
    std::string text;
    ASSERT_TRUE(write_history_text(h, format, text).ok());
    const auto again = read_history_text(text, format);
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_EQ(again->history.content_hash(), h.content_hash()) << text;
  }
}

// Where what is absent was never written, a deletion is a write of its tombstone.
TEST(Hist, AbsentMayMeanNeverWritten) {
  constexpr std::string_view kText =
      "absent never-written\ns: { w(x,1) d(x,t) r(x,t) r(y,null) }\n";
  const History h = read_hist(kText);
  EXPECT_TRUE(h.absent_is_never_written());
  EXPECT_EQ(h.op(1).kind, OpKind::write);
  for (const char* format : {"hist", "assay"}) {
    std::string text;
    ASSERT_TRUE(write_history_text(h, format, text).ok());
    const auto again = read_history_text(text, format);
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_TRUE(again->history.absent_is_never_written()) << text;
    EXPECT_EQ(again->history.content_hash(), h.content_hash()) << text;
  }
}

TEST(Hist, RoundTripOfRandomHistories) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    History h = formats::MixedHistory(seed, {}).build();
    std::string text;
    ASSERT_TRUE(write_history_text(h, "hist", text).ok());
    History again = read_hist(text);
    ASSERT_EQ(again.content_hash(), h.content_hash()) << seed << "\n" << text;
    std::string second;
    ASSERT_TRUE(write_history_text(again, "hist", second).ok());
    ASSERT_EQ(text, second) << seed;
  }
}

TEST(Hist, AnEmptyHistoryCanBeReadBack) {
  std::string text;
  ASSERT_TRUE(write_history_text(History{}, "hist", text).ok());
  auto again = read_history_text(text, "file");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->format, "hist");
  EXPECT_EQ(again->history.txn_count(), 0u);
}

TEST(Hist, CountsLosses) {
  auto r = read_history_text("{\"session\":1,\"ops\":[],\"meta\":{\"a\":1}}\n", "file");
  ASSERT_TRUE(r.ok());
  std::string text;
  auto losses = write_history_text(r->history, "hist", text);
  ASSERT_TRUE(losses.ok());
  ASSERT_EQ(losses->size(), 1u);
  EXPECT_EQ((*losses)[0].what, "metadata of transactions");
  EXPECT_EQ((*losses)[0].count, 1u);
}

}  // namespace
}  // namespace assay::internal
