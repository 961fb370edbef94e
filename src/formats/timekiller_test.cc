#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"
#include "formats/shared_data.h"

namespace assay::internal {
namespace {

TEST(Timekiller, OperationsAndIds) {
  formats::expect_same_history(
      "timekiller",
      R"([ {"tid":5,"sid":1,"ops":[{"t":"w","k":1,"v":2},{"t":"READ","k":1,"v":0},{"t":"r","k":"x"}]},
{"tid":"t6","sid":"b","ops":[{"t":"Append","k":3,"v":4},{"t":"r","k":3,"v":[4]}], "rtts":[1]} ])",
      "initial 0\n1: { w(1,2) r(1,0) r(x,0) }\nb: { a(3,4) r(3,[4]) }\n");
}

TEST(Timekiller, TimestampsKeepTheirOrder) {
  auto r =
      read_history_text(R"([{"tid":5,"sid":1,"sts":{"p":"3","l":1},"cts":{"p":4},"ops":[]}])", "f");
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->format, "timekiller");
  EXPECT_EQ(r->history.name(0), "5");
  EXPECT_EQ(r->history.start_ts(0), 3 * 65536 + 1);
  EXPECT_EQ(r->history.commit_ts(0), 4 * 65536);
  std::string text;
  ASSERT_TRUE(write_history_text(r->history, "timekiller", text).ok());
  EXPECT_EQ(text,
            "[\n{\"sid\":1,\"tid\":0,\"sts\":{\"p\":3,\"l\":1},\"cts\":{\"p\":4,\"l\":0},\"ops\":[]"
            "}\n]\n");
}

TEST(Timekiller, RefusesBadRecordsAtTheirPlace) {
  auto refuse = [](std::string_view text, uint64_t line, uint64_t column, const std::string& part) {
    formats::expect_bad_input("timekiller", text, line, column, part);
  };
  refuse("[5]", 1, 2, "a transaction, an object");
  refuse("[\n {\"ops\":[]}]", 2, 2, "a field \"sid\"");
  refuse("[{\"sid\":null,\"ops\":[]}]", 1, 9, "a field \"sid\"");
  refuse("[{\"sid\":1}]", 1, 2, "a field \"ops\"");
  refuse("[{\"sid\":1,\"tid\":[],\"ops\":[]}]", 1, 17, "an integer or a string");
  refuse("[{\"sid\":1,\"sts\":{\"p\":\"x\"},\"ops\":[]}]", 1, 22, "p from 0");
  refuse("[{\"sid\":1,\"cts\":{\"p\":1,\"l\":70000},\"ops\":[]}]", 1, 28, "l from 0");
  refuse("[{\"sid\":1,\"ops\":[\n5]}]", 2, 1, "an operation, an object");
  refuse("[{\"sid\":1,\"ops\":[{\"t\":\"x\",\"k\":1}]}]", 1, 23, "one of r, w, a");
  refuse("[{\"sid\":1,\"ops\":[{\"t\":\"r\"}]}]", 1, 18, "a field \"k\"");
  refuse("[{\"sid\":1,\"ops\":[{\"t\":\"w\",\"k\":1}]}]", 1, 18, "a field \"v\"");
  refuse("[{\"sid\":1,\"ops\":[{\"t\":\"w\",\"k\":1,\"v\":1.5}]}]", 1, 37, "an integer of 64 bits");
  refuse("[{\"sid\":1,\"ops\":[{\"t\":\"r\",\"k\":1,\"v\":[1,{}]}]}]", 1, 40,
         "an integer of 64 bits");
  // The splitting of the file into records.
  refuse("[{\"sid\":1,\"ops\":[]}", 1, 20, "expected ',' or ']'");
  refuse("[{\"sid\":1,\"ops\":[]},", 1, 21, "not the end");
  refuse("[{\"sid\":1,\"ops\":[]} 5]", 1, 21, "expected ',' or ']'");
  refuse("[{\"sid\":1,\"ops\":[]}] 5", 1, 22, "expected the end after the array");
  refuse("[{\"sid\":1,\"ops\":[]", 1, 19, "unexpected end");
  refuse("[{\"sid\":1,\"ops\":[}]}]", 1, 18, "expected a JSON value");
}

// TiDB's timestamps are whole: 18 bits of a counter behind the milliseconds.
TEST(Timekiller, TimestampsOfFiftyNineBits) {
  auto r = read_history_text(
      "[{\"sid\":1,\"sts\":{\"p\":\"449387342812544001\",\"l\":0},"
      "\"cts\":{\"p\":449387342812544005},\"ops\":[]}]",
      "tidb", {"timekiller"});
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->history.start_ts(0), 449387342812544001);
  EXPECT_EQ(r->history.commit_ts(0), 449387342812544005);
  formats::expect_bad_input("timekiller",
                            "[{\"sid\":1,\"cts\":{\"p\":449387342812544005,\"l\":1},\"ops\":[]}]",
                            1, 45, "0, as p is a whole timestamp");
}

TEST(Timekiller, RecordsOneAfterTheOther) {
  formats::expect_same_history(
      "timekiller", "{\"sid\":1,\"ops\":[]}\n\n{\"sid\":2,\"ops\":[]} {\"sid\":1,\"ops\":[]}",
      "initial 0\n1: {}\n2: {}\n1: {}\n");
}

TEST(Timekiller, RoundTrip) { formats::expect_stable_round_trip("timekiller", {.aborted = false}); }

TEST(Timekiller, WritesLists) {
  auto lists = read_history_text("1: { a(3,4) r(3,[4]) } { r(3,[4,-5]) r(9,[]) }\n2: { a(3,-5) }\n",
                                 "lists", {"hist"});
  ASSERT_TRUE(lists.ok()) << lists.error().to_string();
  std::string text;
  auto losses = write_history_text(lists->history, "timekiller", text);
  ASSERT_TRUE(losses.ok());
  for (const Loss& loss : *losses) EXPECT_EQ(loss.what.find("list"), loss.what.npos) << loss.what;
  formats::expect_same_history(
      "timekiller", text,
      "initial 0\n1: { a(3,4) r(3,[4]) } { r(3,[4,-5]) r(9,[]) }\n2: { a(3,-5) }\n");
}

TEST(Timekiller, ReadsTheRealFile) {
  const auto data = formats::shared_data();
  if (data.empty()) GTEST_SKIP() << "no shared data";
  auto r = read_history((data / "timekiller" / "format-kv.json").string());
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->format, "timekiller");
  EXPECT_EQ(r->history.txn_count(), 1000u);
  EXPECT_EQ(r->history.op_count(), 15000u);
  EXPECT_EQ(r->history.commit_ts(0), int64_t{320316486} << 16);
}

}  // namespace
}  // namespace assay::internal
