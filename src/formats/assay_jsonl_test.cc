#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/mixed_history.h"

namespace assay::internal {
namespace {

ReadResult read_jsonl(std::string_view text) {
  auto r = read_history_text(text, "file", {"assay"});
  EXPECT_TRUE(r.ok()) << r.error().to_string();
  return r.ok() ? std::move(*r) : ReadResult{};
}

void refuse_jsonl(std::string_view text, uint64_t line, uint64_t column, const std::string& part) {
  formats::expect_bad_input("assay", text, line, column, part);
}

constexpr std::string_view kEverything =
    R"({"assay":1,"meta":{"db":"pg"},"initial":0}
{"session":3,"txn":"3-17","status":"committed","begin":1000,"end":[2300,2400],"start_ts":7,"commit_ts":9,"level":"session-si","ops":[["r","x",1],["w","x",2],["append","l",5],["r","l",[1,5]],["d","y","tomb-9"],["range","a",null,[["b",4],["c",7]]],["cas","z",null,5,true],["insert","z",1,false]],"meta":{"node":2}}
{"event":"fault","at":1500,"what":"kill"}
{"key":"x","order":[1,5,2]}
)";

TEST(AssayJsonl, EveryKindOfLine) {
  ReadResult r = read_jsonl(kEverything);
  const History& h = r.history;
  ASSERT_EQ(h.txn_count(), 1u);
  EXPECT_EQ(h.meta(), R"({"db":"pg"})");
  EXPECT_EQ(h.initial(), ValueView::of(0));
  EXPECT_EQ(h.name(0), "3-17");
  EXPECT_EQ(h.line(0), 2u);
  EXPECT_EQ(h.status(0), TxnStatus::committed);
  EXPECT_EQ(h.begin_time(0), Interval::point(1000));
  EXPECT_EQ(h.end_time(0), (Interval{2300, 2400}));
  EXPECT_EQ(h.start_ts(0), 7);
  EXPECT_EQ(h.commit_ts(0), 9);
  EXPECT_EQ(h.declared_level(0), LevelId::session_si);
  EXPECT_EQ(h.meta(0), R"({"node":2})");
  ASSERT_EQ(h.op_count(), 8u);
  const OpKind kinds[] = {OpKind::read,   OpKind::write, OpKind::append, OpKind::read_list,
                          OpKind::remove, OpKind::range, OpKind::cas,    OpKind::insert};
  for (OpId i = 0; i < 8; ++i) EXPECT_EQ(h.op(i).kind, kinds[i]) << i;
  EXPECT_EQ(h.version_value(h.operands(3)[1]), ValueView::of(5));
  EXPECT_EQ(h.operands(5)[1], kNone);
  EXPECT_EQ(h.version_value(h.selected(5).rows[1]), ValueView::of(7));
  EXPECT_TRUE(h.version_value(h.operands(6)[0]).is_null());
  EXPECT_TRUE(h.op(6).effect);
  EXPECT_FALSE(h.op(7).effect);
  ASSERT_EQ(h.events().size(), 1u);
  EXPECT_EQ(h.events()[0].at, 1500);
  EXPECT_EQ(h.events()[0].json, R"({"event":"fault","at":1500,"what":"kill"})");
  ASSERT_EQ(h.known_orders().size(), 1u);
  EXPECT_EQ(h.known_orders()[0].versions.size(), 3u);
}

TEST(AssayJsonl, WritesBackWhatItRead) {
  ReadResult r = read_jsonl(kEverything);
  std::string text;
  auto losses = write_history_text(r.history, "assay", text);
  ASSERT_TRUE(losses.ok());
  EXPECT_TRUE(losses->empty());
  ReadResult again = read_jsonl(text);
  EXPECT_EQ(again.history.content_hash(), r.history.content_hash());
  EXPECT_EQ(again.history.meta(), r.history.meta());
  EXPECT_EQ(again.history.meta(0), r.history.meta(0));
  EXPECT_EQ(again.history.start_ts(0), 7);
  EXPECT_EQ(again.history.commit_ts(0), 9);
  EXPECT_EQ(again.history.declared_level(0), LevelId::session_si);
  EXPECT_EQ(again.history.events()[0].json, r.history.events()[0].json);
}

// What a key holds first: stated by itself, with its order, or by transactions that are before all
// sessions.
TEST(AssayJsonl, InitialValuesOfKeys) {
  constexpr std::string_view kLines = R"({"assay":1,"initial":0,"uses":["initial"]}
{"session":1,"ops":[["r","x",5],["r","y",null],["w","y",2]]}
{"key":"x","initial":5}
{"key":"y","initial":null,"order":[2]}
{"initial":true,"txn":"load","status":"committed","begin":1,"end":2,"ops":[["w",7,{"b":1,"a":"t"}],["w","z",-1]]}
{"session":2,"initial":false,"ops":[["r","z",-1]]}
)";
  ReadResult r = read_jsonl(kLines);
  const History& h = r.history;
  EXPECT_EQ(h.txn_count(), 2u);
  ASSERT_EQ(h.key_count(), 4u);
  EXPECT_EQ(h.initial(), ValueView::of(0));
  const auto initial_of = [&](const ValueView& key) {
    for (KeyId k = 0; k < h.key_count(); ++k)
      if (h.key(k) == key) return h.initial(k);
    return ValueView::of("no such key");
  };
  EXPECT_EQ(initial_of(ValueView::of("x")), ValueView::of(5));
  EXPECT_EQ(initial_of(ValueView::of("y")), ValueView::null());
  EXPECT_EQ(initial_of(ValueView::of("z")), ValueView::of(-1));
  EXPECT_EQ(initial_of(ValueView::of(7)), ValueView::row(R"({"a":"t","b":1})"));
  EXPECT_TRUE(h.is_initial(h.op(0).version));
  // Detected by any of them.
  for (const char* first : {"{\"key\":\"x\",\"initial\":5}\n", "{\"initial\":true,\"ops\":[]}\n"}) {
    auto found = read_history_text(first, "f");
    ASSERT_TRUE(found.ok()) << found.error().to_string();
    EXPECT_EQ(found->format, "assay");
  }
  EXPECT_EQ(h.known_orders().size(), 1u);
  for (const char* format : {"assay", "hist"}) {
    std::string text;
    auto losses = write_history_text(h, format, text);
    ASSERT_TRUE(losses.ok());
    EXPECT_TRUE(losses->empty());
    auto again = read_history_text(text, "again", {format});
    ASSERT_TRUE(again.ok()) << again.error().to_string() << text;
    EXPECT_EQ(again->history.content_hash(), h.content_hash()) << text;
  }
  EXPECT_NE(read_jsonl("{\"session\":1,\"ops\":[[\"r\",\"x\",5]]}\n").history.content_hash(),
            read_jsonl("{\"session\":1,\"ops\":[[\"r\",\"x\",5]]}\n{\"key\":\"x\",\"initial\":5}\n")
                .history.content_hash());
  const auto refuse = [](const std::string& text, uint64_t line, uint64_t column,
                         const std::string& part) { refuse_jsonl(text, line, column, part); };
  refuse("{\"key\":\"x\",\"initial\":5}\n{\"initial\":true,\"ops\":[[\"w\",\"x\",5]]}\n", 2, 0,
         "another initial value");
  refuse("{\"key\":\"x\",\"initial\":[5]}\n", 1, 22, "an integer of 64 bits, a string");
  refuse("{\"key\":null,\"initial\":5}\n", 1, 8, "an integer of 64 bits or a string");
  refuse("{\"initial\":true,\"session\":1,\"ops\":[]}\n", 1, 27, "before all sessions");
  refuse("{\"initial\":true,\"ops\":[[\"r\",\"x\",1]]}\n", 1, 24, "writes values and reads none");
  refuse("{\"initial\":5,\"ops\":[]}\n", 1, 12, "true or false");
  refuse("{\"initial\":true,\"status\":\"aborted\",\"ops\":[]}\n", 1, 26, "\"committed\"");
  refuse("{\"key\":\"x\",\"initial\":5}\n{\"session\":1,\"ops\":[[\"append\",\"x\",1]]}\n", 2, 0,
         "used as a list");
}

TEST(AssayJsonl, RefusesTheLinesOfTwoRuns) {
  const std::string txn = R"({"session":1,"ops":[]})";
  const std::string one = R"({"assay":1,"meta":{"run":"00000000000a"}})";
  const std::string two = R"({"assay":1,"meta":{"run":"00000000000b"}})";
  refuse_jsonl(one + "\n" + txn + "\n" + two + "\n", 3, 10,
               "two runs, '00000000000a' and from here on '00000000000b'");
  refuse_jsonl(one + "\n" + one + "\n", 2, 10, "a header may only be the first line");
  const std::string part = R"({"assay":1,"meta":{"run":"00000000000a","part":2}})";
  EXPECT_EQ(read_jsonl(one + "\n" + txn + "\n" + part + "\n" + txn + "\n").history.txn_count(), 2u);
  refuse_jsonl(two + "\n" + part + "\n", 2, 10, "two runs");
  refuse_jsonl("{\"assay\":1}\n" + one + "\n", 2, 10,
               "two runs, one and from here on '00000000000a'");
}

TEST(AssayJsonl, StatusOfPendingTransactions) {
  ReadResult r = read_jsonl(R"({"session":1,"txn":"a","status":"pending","ops":[["w","x",1]]}
{"session":1,"txn":"a","status":"aborted","ops":[["w","x",1],["w","y",1]]}
{"session":1,"txn":"b","status":"pending","ops":[]}
{"session":"two","txn":3,"ops":[]}
)");
  ASSERT_EQ(r.history.txn_count(), 3u);
  EXPECT_EQ(r.history.status(0), TxnStatus::aborted);
  EXPECT_EQ(r.history.end_op(0) - r.history.first_op(0), 2u);
  EXPECT_EQ(r.history.status(1), TxnStatus::unknown);
  EXPECT_EQ(r.history.status(2), TxnStatus::committed);
  EXPECT_EQ(r.history.name(2), "3");
  EXPECT_EQ(r.history.session_name(1), ValueView::of("two"));
}

TEST(AssayJsonl, IgnoresUnknownFieldsBlankLinesAndCarriageReturns) {
  ReadResult r = read_jsonl(
      "\xEF\xBB\xBF{\"assay\":1,\"extra\":[{}]}\r\n\r\n  \n"
      "{\"node\":\"n1\",\"session\":1,\"ops\":[[\"r\",\"x\",null]],\"txns\":4}\r\n");
  ASSERT_EQ(r.history.txn_count(), 1u);
  EXPECT_TRUE(r.history.version_value(r.history.op(0).version).is_null());
  EXPECT_TRUE(r.notes.empty());
}

TEST(AssayJsonl, ToleratesALastLineCutOffAnywhere) {
  const std::string whole =
      R"({"session":1,"ops":[["w","é\u00e9\ud83d\ude00",-12]],"meta":{"a":true}})";
  const std::string first = "{\"session\":1,\"ops\":[]}\n";
  for (size_t n = 1; n < whole.size(); ++n) {
    ReadResult r = read_jsonl(first + whole.substr(0, n));
    EXPECT_EQ(r.history.txn_count(), 1u) << n;
    ASSERT_EQ(r.notes.size(), 1u) << n;
    EXPECT_EQ(r.notes[0].line, 2u);
    EXPECT_EQ(r.notes[0].message, "line 2 is cut off and was ignored");
  }
  ReadResult r = read_jsonl(first + whole);
  EXPECT_EQ(r.history.txn_count(), 2u);
  EXPECT_TRUE(r.notes.empty());
  // With a line end it is not a crash but a fault, and so is a wrong last line.
  refuse_jsonl(first + R"({"session":1,"ops":[)" + "\n", 2, 21, "unexpected end");
  refuse_jsonl(first + R"({"session":1;)", 2, 13, "expected ',' or '}'");
}

TEST(AssayJsonl, RefusesWhatIsNotJsonAtItsPlace) {
  refuse_jsonl("{\"session\":1,\"ops\":[]}\nhello\n", 2, 1, "expected a JSON value");
  refuse_jsonl("{\"session\":1,\"ops\":[],}\n", 1, 23, "expected a field name");
  refuse_jsonl("{\"session\" 1}\n", 1, 12, "expected ':'");
  refuse_jsonl("{\"session\":1,\"ops\":[1 2]}\n", 1, 23, "expected ',' or ']'");
  refuse_jsonl("{\"session\":01,\"ops\":[]}\n", 1, 12, "must not start with 0");
  refuse_jsonl("{\"session\":1.,\"ops\":[]}\n", 1, 14, "expected a digit");
  refuse_jsonl("{\"session\":99999999999999999999,\"ops\":[]}\n", 1, 12, "64 bits");
  refuse_jsonl("{\"session\":1e999,\"ops\":[]}\n", 1, 12, "out of range");
  refuse_jsonl("{\"session\":nul,\"ops\":[]}\n", 1, 12, "expected a JSON value");
  refuse_jsonl("{\"a\":\"\\x\"}\n", 1, 7, "invalid escape");
  refuse_jsonl("{\"a\":\"\\ud800x\"}\n", 1, 7, "invalid escape");
  refuse_jsonl("{\"a\":\"\xFFz\"}\n", 1, 7, "invalid UTF-8");
  refuse_jsonl("{\"a\":\"\x01\"}\n", 1, 7, "control character");
  refuse_jsonl("{\"session\":1,\"ops\":[]} {}\n", 1, 24, "expected the end after");
  refuse_jsonl("[1]\n", 1, 1, "expected a JSON object");
  std::string deep = "{\"a\":" + std::string(64, '[') + std::string(64, ']') + "}\n";
  refuse_jsonl(deep, 1, 69, "nested more than 64 deep");
}

TEST(AssayJsonl, RefusesLinesOfUnknownKind) {
  refuse_jsonl("{}\n", 1, 1, "expected a transaction");
  refuse_jsonl("{\"session\":1}\n", 1, 1, "expected a transaction");
  refuse_jsonl("  {\"ops\":[]}\n", 1, 3, "\"session\"");
  refuse_jsonl("{\"order\":[1]}\n", 1, 1, "\"key\"");
  refuse_jsonl("{\"session\":1,\"ops\":[],\"session\":2}\n", 1, 12, "appears twice");
}

TEST(AssayJsonl, RefusesBadHeaders) {
  refuse_jsonl("{\"assay\":2}\n", 1, 10, "newer than this program");
  refuse_jsonl("{\"assay\":\"1\"}\n", 1, 10, "the version of the format");
  refuse_jsonl("{\"assay\":0}\n", 1, 10, "the version of the format");
  refuse_jsonl("{\"assay\":1}\n{\"assay\":1}\n", 2, 10, "only be the first line");
  refuse_jsonl("{\"assay\":1,\"initial\":[]}\n", 1, 22,
               "expected an integer of 64 bits or a string");
  refuse_jsonl("{\"assay\":1,\"meta\":1}\n", 1, 19, "expected an object");
  refuse_jsonl("{\"assay\":1,\"absent\":\"?\"}\n", 1, 21, "expected \"never-written\"");
}

TEST(AssayJsonl, RefusesBadTransactionFields) {
  refuse_jsonl("{\"session\":null,\"ops\":[]}\n", 1, 12, "an integer of 64 bits or a string");
  refuse_jsonl("{\"session\":1.5,\"ops\":[]}\n", 1, 12, "an integer of 64 bits or a string");
  refuse_jsonl("{\"session\":18446744073709551615,\"ops\":[]}\n", 1, 12, "64 bits");
  refuse_jsonl("{\"session\":1,\"txn\":[],\"ops\":[]}\n", 1, 20,
               "an integer of 64 bits or a string");
  refuse_jsonl("{\"session\":1,\"status\":\"ok\",\"ops\":[]}\n", 1, 23,
               "\"committed\", \"aborted\"");
  refuse_jsonl("{\"session\":1,\"status\":1,\"ops\":[]}\n", 1, 23, "\"committed\", \"aborted\"");
  refuse_jsonl("{\"session\":1,\"begin\":\"x\",\"ops\":[]}\n", 1, 22, "nanoseconds");
  refuse_jsonl("{\"session\":1,\"end\":[2,1],\"ops\":[]}\n", 1, 20, "request not after response");
  refuse_jsonl("{\"session\":1,\"end\":[1,2,3],\"ops\":[]}\n", 1, 20, "[request, response]");
  refuse_jsonl("{\"session\":1,\"start_ts\":null,\"ops\":[]}\n", 1, 25, "an integer of 64 bits");
  refuse_jsonl("{\"session\":1,\"commit_ts\":1.0,\"ops\":[]}\n", 1, 26, "an integer of 64 bits");
  refuse_jsonl("{\"session\":1,\"level\":\"strong\",\"ops\":[]}\n", 1, 22, "a level, such as");
  refuse_jsonl("{\"session\":1,\"ops\":{}}\n", 1, 20, "an array of operations");
  refuse_jsonl("{\"session\":1,\"ops\":[],\"meta\":[]}\n", 1, 30, "an object");
  refuse_jsonl("{\"event\":1}\n", 1, 10, "names the event");
  refuse_jsonl("{\"event\":\"x\",\"at\":\"y\"}\n", 1, 19, "an integer of 64 bits");
  refuse_jsonl("{\"key\":null,\"order\":[]}\n", 1, 8, "an integer of 64 bits or a string");
  refuse_jsonl("{\"key\":1,\"order\":[1,true]}\n", 1, 21, "an object with \"txn\"");
  refuse_jsonl("{\"key\":1,\"order\":[1,{\"value\":2}]}\n", 1, 21, "an object with \"txn\"");
  refuse_jsonl("{\"key\":1,\"order\":[{\"txn\":null}]}\n", 1, 26,
               "an integer of 64 bits or a string");
  refuse_jsonl("{\"key\":1,\"order\":[{\"txn\":\"a\",\"deleted\":1}]}\n", 1, 40, "true");
  refuse_jsonl("{\"key\":1,\"order\":[{\"txn\":\"a\",\"value\":null}]}\n", 1, 38,
               "an integer of 64 bits");
  refuse_jsonl("{\"assay\":1,\"uses\":[\"named-versions\",\"more\"]}\n", 1, 37,
               "\"named-versions\"");
  refuse_jsonl("{\"event\":\"complete\"}\n", 1, 1, "a field \"at\"");
  refuse_jsonl("{\"key\":1,\"order\":5}\n", 1, 18, "an array");
}

// Parts that a rollback to a savepoint undid: their writes are an aborted transaction.
TEST(AssayJsonl, UndonePartsAreTransactionsOfTheirOwn) {
  const std::string line =
      "{\"session\":1,\"txn\":\"a\",\"ops\":[[\"w\",1,1],[\"w\",1,2],[\"r\",1,2],[\"r\",2,null],"
      "[\"append\",3,4],[\"r\",3,[4]],[\"range\",0,2,[[1,2]]],[\"r\",1,1]],\"undone\":";
  const ReadResult r = read_jsonl(line + "[[4,5],[1,7]]}\n");
  std::string hist;
  ASSERT_TRUE(write_history_text(r.history, "hist", hist).ok());
  EXPECT_EQ(hist,
            "1: a { w(1,1) r(2,null) r(3,[4]) range(0..0,[]) range(2..2,[]) r(1,1) } "
            "\"a:undone\" { a(3,4) w(1,2) }!\n");
  refuse_jsonl(line + "5}\n", 1, 143, "an array of [from, to]");
  refuse_jsonl(line + "[[1]]}\n", 1, 144, "an array of [from, to]");
  refuse_jsonl(line + "[[3,3]]}\n", 1, 144, "the second after the first");
  refuse_jsonl(line + "[[3,9]]}\n", 1, 144, "at most their number");
  refuse_jsonl(line + "[[3,5],[4,6]]}\n", 1, 150, "still there");
  refuse_jsonl(line + "[[0,2],[3,4],[1,5]]}\n", 1, 156, "still there");
  refuse_jsonl(line + "[[3,5],[1,2]]}\n", 1, 150, "after the ones before it");
  refuse_jsonl(
      "{\"session\":1,\"ops\":[[\"w\",\"x\",1],[\"range\",null,null,[]]],\"undone\":[[0,2]]}\n", 1,
      0, "integer keys");
}

// What an entry names: its transaction's value, its deletion, or what it left behind.
TEST(AssayJsonl, OrdersThatNameTransactions) {
  const std::string txns =
      "{\"assay\":1,\"uses\":[\"named-versions\"]}\n"
      "{\"session\":1,\"txn\":\"a\",\"ops\":[[\"w\",\"x\",5],[\"w\",\"x\",6]]}\n"
      "{\"session\":2,\"ops\":[[\"d\",\"x\",\"gone\"],[\"w\",\"x\",5]]}\n";
  const ReadResult r =
      read_jsonl(txns +
                 "{\"key\":\"x\",\"order\":[{\"txn\":\"a\",\"value\":5},{\"txn\":\"a\"},"
                 "{\"txn\":\"2-0\",\"deleted\":true},{\"txn\":\"2-0\",\"value\":5},5]}\n"
                 "{\"event\":\"complete\",\"at\":70}\n");
  const History& h = r.history;
  ASSERT_EQ(h.known_orders().size(), 1u);
  const KnownOrder& order = h.known_orders()[0];
  std::vector<std::string> entries;
  for (size_t i = 0; i < order.versions.size(); ++i)
    entries.push_back((order.txn(i) == kNone ? "?" : h.name(order.txn(i))) + "=" +
                      h.version_value(order.versions[i]).to_string());
  EXPECT_EQ(entries, (std::vector<std::string>{"a=5", "a=6", "2-0=gone", "2-0=5", "?=5"}));
  EXPECT_EQ(h.orders_complete_to(), 70);
  std::string text;
  ASSERT_TRUE(write_history_text(h, "assay", text).ok());
  EXPECT_NE(text.find("{\"txn\":\"2-0\",\"deleted\":true,\"value\":\"gone\"}"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\"uses\":[\"named-versions\"]"), std::string::npos) << text;
  EXPECT_EQ(read_jsonl(text).history.content_hash(), h.content_hash()) << text;
  // Another transaction's value is another version.
  const ReadResult other =
      read_jsonl(txns + "{\"key\":\"x\",\"order\":[{\"txn\":\"a\",\"value\":5}]}\n");
  const ReadResult moved =
      read_jsonl(txns + "{\"key\":\"x\",\"order\":[{\"txn\":\"2-0\",\"value\":5}]}\n");
  EXPECT_NE(other.history.content_hash(), moved.history.content_hash());
}

TEST(AssayJsonl, NamesInOrdersMustBeSomebodys) {
  const std::string one = "{\"session\":1,\"ops\":[[\"w\",\"x\",5]]}\n";
  refuse_jsonl(one + "{\"key\":\"x\",\"order\":[{\"txn\":\"1-1\"}]}\n", 2, 0,
               "names transaction 1-1");
  // Names must differ only where one is used.
  const std::string two = one + "{\"session\":2,\"txn\":\"1-0\",\"ops\":[]}\n";
  EXPECT_EQ(read_jsonl(two).history.txn_count(), 2u);
  refuse_jsonl(two + "{\"key\":\"x\",\"order\":[{\"txn\":\"1-0\"}]}\n", 2, 0,
               "another transaction, of line 1, is called 1-0");
}

TEST(AssayJsonl, OutcomesThatAnEventSettles) {
  const std::string text =
      "{\"event\":\"settled\",\"at\":9,\"aborted\":[\"1-0\",5]}\n"
      "{\"session\":1,\"txn\":\"1-0\",\"status\":\"pending\",\"begin\":1,\"ops\":[[\"w\",\"x\",5]]}"
      "\n"
      "{\"session\":2,\"ops\":[[\"r\",\"x\",5]]}\n"
      "{\"session\":1,\"txn\":5,\"status\":\"unknown\",\"end\":[2,null],\"ops\":[]}\n"
      "{\"session\":3,\"status\":\"unknown\",\"ops\":[]}\n";
  const ReadResult r = read_jsonl(text);
  const History& h = r.history;
  EXPECT_EQ(h.status(0), TxnStatus::aborted);
  EXPECT_EQ(h.status(1), TxnStatus::committed);
  EXPECT_EQ(h.status(2), TxnStatus::aborted);
  EXPECT_EQ(h.status(3), TxnStatus::unknown);
  EXPECT_NE(h.content_hash(), read_jsonl(text.substr(text.find('\n') + 1)).history.content_hash());
  for (const char* format : {"assay", "hist"}) {
    std::string written;
    ASSERT_TRUE(write_history_text(h, format, written).ok());
    const auto again = read_history_text(written, "again", {format});
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_EQ(again->history.content_hash(), h.content_hash()) << written;
    EXPECT_EQ(again->history.events().size(), 1u);
  }
}

TEST(AssayJsonl, AnOutcomeIsSettledInOneWayOnly) {
  const std::string event = "{\"event\":\"settled\",\"aborted\":[\"1-0\"]}\n";
  const std::string committed = "{\"session\":1,\"ops\":[[\"w\",\"x\",5]]}\n";
  const std::string unknown = "{\"session\":1,\"status\":\"unknown\",\"ops\":[[\"w\",\"x\",5]]}\n";
  refuse_jsonl(event + committed, 2, 0, "transaction 1-0 is committed");
  refuse_jsonl(event + unknown + "{\"session\":2,\"txn\":\"1-0\",\"ops\":[]}\n", 3, 0,
               "another transaction, of line 2, is called 1-0");
  refuse_jsonl(unknown + event + "{\"key\":\"x\",\"order\":[{\"txn\":\"1-0\"}]}\n", 3, 0,
               "the order says that transaction 1-0 took effect");
  const std::string by_value = "{\"key\":\"x\",\"order\":[5]}\n";
  refuse_jsonl(unknown + event + by_value, 3, 0, "the order says that transaction 1-0 took effect");
  // Somebody else wrote the value too, and is the one that is meant.
  const std::string other = "{\"session\":2,\"ops\":[[\"w\",\"x\",5]]}\n";
  EXPECT_EQ(read_jsonl(unknown + event + by_value + other).history.status(0), TxnStatus::aborted);
  refuse_jsonl("{\"event\":\"settled\",\"aborted\":\"a\"}\n", 1, 30, "an array of names");
  refuse_jsonl("{\"event\":\"settled\",\"aborted\":[\"a\",null]}\n", 1, 35, "or a string");
  refuse_jsonl("{\"event\":\"settled\",\"aborted\":[],\"aborted\":[]}\n", 1, 30, "appears twice");
  EXPECT_EQ(read_jsonl("{\"event\":\"note\",\"aborted\":1}\n").history.events().size(), 1u);
}

// A query, what others wrote, and the orders of that; the query's line is the second.
std::string query_and_orders(const std::string& more) {
  return R"({"assay":1,"uses":["named-versions","pred"]}
{"session":3,"txn":"3-0","ops":[["r",2,7],["pred","value < 9",[[1,5]],{)" +
         more + R"(}]]}
{"session":1,"txn":"1-0","ops":[["w",2,12],["w",1,5],["d",5,99]]}
{"session":2,"txn":7,"ops":[["w",2,7]]}
{"key":2,"order":[{"txn":"1-0","value":12},{"txn":7,"value":7}]}
{"key":5,"order":[{"txn":"1-0","deleted":true}]}
{"key":8,"order":[]}
{"key":8,"order":[]}
)";
}

TEST(AssayJsonl, RowsThatEventsSayWerePassedOver) {
  const std::string written = R"("passed":[[4,null]],"matched":[6])";
  const std::string event =
      R"({"event":"passed","txn":"3-0","op":1,"versions":[[2,1],[3,0],[5,1],[1,0],[4,0],[6,0]]})";
  const History h = read_jsonl(event + "\n").history;
  EXPECT_TRUE(h.events().empty());  // of a transaction that is not there
  const std::string same =
      query_and_orders(R"("passed":[[4,null],[2,12],[3,null],[5,null]],"matched":[6])");
  for (const std::string& text :
       {query_and_orders(written) + event + "\n",
        query_and_orders(written) +
            R"({"op":1,"versions":[[2,1],[3,0],[5,1]],"event":"p\u0061ssed","txn":"3-0"}
)"}) {
    const History passed = read_jsonl(text).history;
    EXPECT_EQ(passed.content_hash(), read_jsonl(same).history.content_hash()) << text;
    EXPECT_TRUE(passed.events().empty());
  }
  EXPECT_NE(read_jsonl(query_and_orders(written)).history.content_hash(),
            read_jsonl(same).history.content_hash());
}

TEST(AssayJsonl, RowsThatEventsCannotMean) {
  const auto refuse = [](const std::string& event, const std::string& expected) {
    refuse_jsonl(query_and_orders("") + R"({"event":"passed","txn":"3-0",)" + event + "}\n", 2, 0,
                 expected);
  };
  refuse_jsonl(query_and_orders("") + R"({"event":"passed","txn":"3-0","op":1,"versions":[]}
{"event":"passed","txn":"3-0","op":1,"versions":[[2,1]]}
)",
               2, 0, "one event for a query");
  for (const char* op : {"0", "2", "-1", "4294967297", "\"1\"", "null", "1.5"})
    refuse(R"("versions":[],"op":)" + std::string(op), "a query with a condition");
  for (const char* row : {"2", "[2]", "[2,1,1]", "[null,1]", "[2,null]", "[2,\"1\"]", "[[2],1]"})
    refuse(R"("op":1,"versions":[)" + std::string(row) + "]", "a key and a place");
  for (const char* row : {"[2,3]", "[2,-1]", "[9,1]", "[\"2\",1]", "[8,1]"})
    refuse(R"("op":1,"versions":[)" + std::string(row) + "]", "a place in its only order");
}

TEST(AssayJsonl, ReadsThatStateTheirSource) {
  const std::string text =
      "{\"assay\":1,\"initial\":0,\"uses\":[\"sources\"]}\n"
      "{\"session\":1,\"ops\":[[\"r\",\"x\",5,{\"from\":\"b\"}],[\"r\",\"x\",5],"
      "[\"r\",\"y\",0,{\"from\":null}],[\"r\",\"z\",null,{\"from\":7,\"at\":1}]]}\n"
      "{\"session\":2,\"txn\":\"b\",\"ops\":[[\"w\",\"x\",5]]}\n"
      "{\"session\":3,\"txn\":7,\"ops\":[[\"d\",\"z\",\"gone\"]]}\n";
  const History h = read_jsonl(text).history;
  EXPECT_EQ(h.stated_source(0), 1u);
  EXPECT_EQ(h.stated_source(1), kNone);
  EXPECT_EQ(h.stated_source(2), kInitialTxn);
  EXPECT_EQ(h.stated_source(3), 2u);
  EXPECT_EQ(h.stated_source(4), kNone);
  EXPECT_EQ(h.stated_source_count(), 3u);
  std::string again;
  ASSERT_TRUE(write_history_text(h, "assay", again).ok());
  EXPECT_NE(again.find("\"uses\":[\"sources\"]"), std::string::npos) << again;
  EXPECT_NE(again.find("[\"r\",\"y\",0,{\"from\":null}]"), std::string::npos) << again;
  EXPECT_EQ(read_jsonl(again).history.content_hash(), h.content_hash()) << again;
  std::string other = text;
  other.replace(other.find("\"b\"}"), 3, "null");
  EXPECT_NE(read_jsonl(other).history.content_hash(), h.content_hash());
}

TEST(AssayJsonl, SnapshotsAreKept) {
  const History h =
      read_jsonl(
          "{\"session\":1,\"snapshot\":\"10:20:10,14\",\"ops\":[]}\n{\"session\":1,\"ops\":[]}\n")
          .history;
  EXPECT_EQ(h.snapshot(0), "10:20:10,14");
  EXPECT_EQ(h.snapshot(1), "");
  std::string again;
  ASSERT_TRUE(write_history_text(h, "assay", again).ok());
  EXPECT_EQ(read_jsonl(again).history.snapshot(0), "10:20:10,14") << again;
}

// The line that replaces a pending one counts.
TEST(AssayJsonl, TimesOfOperationsAreKept) {
  const std::string text =
      R"({"session":1,"txn":"1-0","status":"committed","ops":[["r","x",null],["w","x",2],["w","y",1]],"op_times":[[10,12],null,[14,null]]})"
      "\n"
      R"({"session":1,"txn":"1-1","status":"committed","ops":[["w","x",3]]})"
      "\n";
  const History h = read_jsonl(text).history;
  EXPECT_EQ(h.op_time(0), (Interval{10, 12}));
  EXPECT_FALSE(h.op_time(1).known());
  EXPECT_EQ(h.op_time(2), Interval::from(14));
  EXPECT_FALSE(h.op_time(3).known());
  EXPECT_EQ(h.op_time_count(), 2u);
  std::string again;
  ASSERT_TRUE(write_history_text(h, "assay", again).ok());
  EXPECT_NE(again.find(R"("op_times":[[10,12],null,[14,null]])"), std::string::npos) << again;
  EXPECT_EQ(read_jsonl(again).history.op_time(2), Interval::from(14)) << again;
  // No verdict rests on them.
  EXPECT_EQ(h.content_hash(), read_jsonl(text.substr(0, text.find(",\"op_times")) + "}\n" +
                                         text.substr(text.find('\n') + 1))
                                  .history.content_hash());
}

// One entry is several operations where an update names its rows.
TEST(AssayJsonl, TimesOfUpdatesByCondition) {
  const History h = read_jsonl(R"({"assay":1,"uses":["pred"]}
{"session":1,"ops":[["w","x",1],["pupd","value > 0",[["x",5]]],["w","y",7]],"op_times":[1,[2,3],4]}
)")
                        .history;
  ASSERT_GT(h.op_count(), 3u);
  for (OpId i = 1; i + 1 < h.op_count(); ++i) EXPECT_EQ(h.op_time(i), (Interval{2, 3})) << i;
  EXPECT_EQ(h.op_time(h.op_count() - 1), Interval::point(4));
}

TEST(AssayJsonl, RefusesBadTimesOfOperations) {
  const std::string head = "{\"session\":1,\"ops\":[[\"w\",1,1],[\"w\",2,1]],\"op_times\":";
  const std::string want = "an array with a time, or null, for each operation";
  refuse_jsonl(head + "7}\n", 1, 53, want);
  refuse_jsonl(head + "[1]}\n", 1, 53, want);
  refuse_jsonl(head + "[1,2,3]}\n", 1, 53, want);
  refuse_jsonl(head + "[1,\"2\"]}\n", 1, 56, "a time in nanoseconds");
}

TEST(AssayJsonl, WhatIsNotedOfATransactionLastCounts) {
  const std::string line = "{\"session\":1,\"txn\":\"a\",\"status\":\"";
  const History h =
      read_jsonl(line + "pending\",\"snapshot\":\"1\",\"meta\":{\"a\":1},\"ops\":[]}\n" + line +
                 "committed\",\"snapshot\":\"2\",\"meta\":{\"a\":2},\"ops\":[]}\n")
          .history;
  EXPECT_EQ(h.snapshot(0), "2");
  EXPECT_EQ(h.meta(0), "{\"a\":2}");
}

TEST(AssayJsonl, SourcesThatCannotBeLookedUp) {
  const std::string one = "{\"session\":1,\"ops\":[[\"r\",\"x\",5,{\"from\":\"b\"}]]}\n";
  refuse_jsonl(one, 1, 0, "from transaction b, which is not in the history");
  refuse_jsonl(
      one + "{\"session\":2,\"txn\":\"b\",\"ops\":[]}\n{\"session\":3,\"txn\":\"b\",\"ops\":[]}\n",
      3, 0, "another transaction, of line 2, is called b");
}

// A pending line that is replaced takes its sources with it.
TEST(AssayJsonl, SourcesOfPendingTransactions) {
  const History h = read_jsonl(
                        "{\"session\":1,\"txn\":\"a\",\"status\":\"pending\",\"ops\":[[\"r\",\"x\","
                        "5,{\"from\":\"b\"}]]}\n"
                        "{\"session\":2,\"txn\":\"b\",\"ops\":[[\"w\",\"x\",5]]}\n"
                        "{\"session\":1,\"txn\":\"a\",\"ops\":[[\"w\",\"y\",1],[\"r\",\"x\",5,{"
                        "\"from\":\"b\"}]]}\n")
                        .history;
  ASSERT_EQ(h.op_count(), 3u);
  EXPECT_EQ(h.stated_source(h.first_op(0)), kNone);
  EXPECT_EQ(h.stated_source(h.first_op(0) + 1), 1u);
  EXPECT_EQ(h.stated_source(h.first_op(1)), kNone);
}

TEST(AssayJsonl, RefusesBadOperations) {
  auto op = [](const std::string& text, uint64_t column, const std::string& part) {
    refuse_jsonl("{\"session\":1,\"ops\":[[\"w\",\"x\",1]," + text + "]}\n", 1, 31 + column + 1,
                 part);
  };
  op("5", 1, "an operation like");
  op("[]", 1, "an operation like");
  op("[\"r\",\"x\",1,2]", 12, "an object with \"from\"");
  op("[\"r\",\"x\",1,{\"from\":[1]}]", 12, "an object with \"from\"");
  op("[\"r\",\"x\",1,{\"from\":\"\"}]", 12, "an object with \"from\"");
  op("[\"r\",\"x\",[1],{\"from\":\"a\"}]", 10, "as its source is stated");
  op("[1,2,3]", 1, "an operation like");
  op("[\"rr\",\"x\",1]", 2, "one of r, w, append, d, range, cas, insert");
  op("[\"r\",\"x\"]", 1, "[\"r\", key, value]");
  op("[\"r\",\"x\",1,2,3]", 1, "[\"r\", key, value]");
  op("[\"r\",null,1]", 6, "an integer of 64 bits or a string");
  op("[\"r\",\"x\",true]", 10, "null or an array");
  op("[\"append\",\"x\",{}]", 15, "an integer of 64 bits or a string");
  op("[\"pred\",\"v < 1\"]", 1, "[\"pred\", condition, [[key, value]");
  op("[\"pred\",1,[]]", 9, "a condition, like");
  op("[\"pred\",\"v <\",[]]", 9,
     "expected an integer of 64 bits, a 'text' or null in the condition, at its character 4");
  op("[\"pred\",\"v < 1\",[[1,null]]]", 21, "a row of columns");
  op("[\"pred\",\"v < 1\",[],1]", 20, "an object of \"keys\"");
  op("[\"pred\",\"v < 1\",[],{\"all\":1}]", 27, "\"keys\", \"passed\"");
  op("[\"pred\",\"v < 1\",[],{\"keys\":[1]}]", 28, "[low, high]");
  op("[\"pred\",\"v < 1\",[],{\"keys\":[1,true]}]", 31, "null if open");
  op("[\"pred\",\"v < 1\",[],{\"passed\":[1]}]", 31, "[key, value]");
  op("[\"pred\",\"v < 1\",[],{\"matched\":[null]}]", 32, "an integer of 64 bits or a string");
  op("[\"pred\",\"v < 1\",[],{\"claims\":\"all\"}]", 30, "\"complete\" or \"found\"");
  op("[\"pupd\",\"v < 1\",[],1]", 1, "[\"pupd\", condition");
  op("[\"r\",\"x\",[1,null]]", 13, "an integer of 64 bits or a string");
  op("[\"w\",\"x\",null]", 10, "an integer of 64 bits or a string");
  op("[\"w\",true,1]", 6, "an integer of 64 bits or a string");
  op("[\"append\",\"x\"]", 1, "[\"append\", key, value]");
  op("[\"d\",\"x\",1.5]", 10, "an integer of 64 bits or a string");
  op("[\"cas\",\"x\",1,2]", 1, "true or false");
  op("[\"cas\",\"x\",1,2,1]", 16, "whether it took effect");
  op("[\"cas\",\"x\",[],2,true]", 12, "or null");
  op("[\"cas\",\"x\",1,null,true]", 14, "an integer of 64 bits or a string");
  op("[\"cas\",[],1,2,true]", 8, "an integer of 64 bits or a string");
  op("[\"insert\",\"x\",1]", 1, "true or false");
  op("[\"insert\",\"x\",1,null]", 17, "whether it took effect");
  op("[\"insert\",\"x\",null,true]", 15, "an integer of 64 bits or a string");
  op("[\"insert\",false,1,true]", 11, "an integer of 64 bits or a string");
  op("[\"range\",1,2]", 1, "[[key, value]");
  op("[\"range\",true,2,[]]", 10, "null if open");
  op("[\"range\",1,true,[]]", 12, "null if open");
  op("[\"range\",1,2,3]", 14, "an array of [key, value]");
  op("[\"range\",1,2,[[1]]]", 15, "[key, value]");
  op("[\"range\",1,2,[[1,2],[null,2]]]", 22, "an integer of 64 bits or a string");
  op("[\"range\",1,2,[[1,2],[3,null]]]", 24, "an integer of 64 bits or a string");
}

TEST(AssayJsonl, RefusesALineLongerThanTheLimit) {
  std::string text =
      "{\"session\":1,\"ops\":[],\"meta\":{\"a\":\"" + std::string(1 << 24, 'a') + "\"}}\n";
  refuse_jsonl("{\"assay\":1}\n" + text, 2, 0, "longer than 16 MiB");
}

TEST(AssayJsonl, RoundTripOfRandomHistories) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    History h = formats::MixedHistory(seed, {}).build();
    std::string text;
    ASSERT_TRUE(write_history_text(h, "assay", text).ok());
    ReadResult again = read_jsonl(text);
    ASSERT_EQ(again.history.content_hash(), h.content_hash()) << seed << "\n" << text;
    std::string second;
    ASSERT_TRUE(write_history_text(again.history, "assay", second).ok());
    ASSERT_EQ(text, second) << seed;
  }
}

}  // namespace
}  // namespace assay::internal
