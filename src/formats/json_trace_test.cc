#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"

namespace assay::internal {
namespace {

TEST(JsonTrace, FieldsByName) {
  formats::expect_same_history("json-trace",
                               R"({"time":10,"host":"h","Session":"web-1","op":"begin","txn":17}
{"time":12,"session":"web-1","op":"read","key":"x","value":null,"txn":17}
{"time":13,"session":5,"op":"w","key":"1","value":"a","txn":"18"}
{"time":14,"session":"web-1","OP":"WRITE","key":"x","value":2,"txn":17}
{"time":15,"session":"web-1","op":"r","key":"l","value":[1,"b"],"txn":17}
{"time":16,"session":"web-1","op":"commit","txn":17}
{"time":17,"session":5,"op":"abort","txn":"18"}
{"time":18,"session":5,"op":"append","key":"l","value":1,"txn":19})",
                               "web-1: @[10,16] { r(x,null) w(x,2) r(l,[1,b]) }\n"
                               "5: @[13,17] { w(\"1\",a) }! @[18,_] { a(l,1) }?\n");
}

TEST(JsonTrace, AnArrayWithoutEndsIsCommitted) {
  formats::expect_same_history("json-trace",
                               R"([{"session":1,"op":"w","key":"x","value":1,"status":"committed"},
{"session":1,"op":"r","key":"x","value":1}, {"session":1,"op":"d","key":"x","value":"t","status":"info"}])",
                               "1: { w(x,1) } { r(x,1) } { d(x,t) }?\n");
}

TEST(JsonTrace, SpansAreOperationsTheirTraceIsTheTransaction) {
  constexpr std::string_view kHist =
      "web-1: @[10,40] { r(x,null) w(x,5) r(l,[1,b]) }\nweb-2: @[50,_] { w(x,6) }?\n";
  formats::expect_same_history(
      "json-trace",
      R"({"traceId":"aa","spanId":"1","name":"get","startTimeUnixNano":"10","endTimeUnixNano":"20","attributes":{"session":"web-1","op":"read","key":"x"}}
{"traceId":"aa","spanId":"2","startTimeUnixNano":21,"endTimeUnixNano":29,"attributes":{"session":"web-1","op":"write","key":"x","value":5},"status":{}}
{"traceId":"aa","spanId":"4","startTimeUnixNano":30,"endTimeUnixNano":31,"attributes":{"session":"web-1","op":"read","key":"l","value":[1,"b"]}}
{"traceId":"zz","spanId":"9","name":"GET /","attributes":{"http.route":"/"}}
{"traceId":"aa","spanId":"3","startTimeUnixNano":32,"endTimeUnixNano":40,"attributes":{"session":"web-1","op":"commit"}}
{"traceId":"bb","spanId":"5","startTimeUnixNano":50,"endTimeUnixNano":60,"attributes":{"session":"web-2","op":"write","key":"x","value":6}}
{"traceId":"bb","spanId":"6","startTimeUnixNano":60,"endTimeUnixNano":70,"attributes":{"session":"web-2","op":"read","key":"x"},"status":{"code":2}}
{"traceId":"bb","spanId":"7","startTimeUnixNano":70,"endTimeUnixNano":80,"attributes":{"session":"web-2","op":"commit"},"status":{"code":"STATUS_CODE_ERROR"}})",
      kHist);
  formats::expect_same_history(
      "json-trace",
      R"({"resourceSpans":[{"resource":{"attributes":[{"key":"session","value":{"stringValue":"web-1"}}]},"scopeSpans":[{"scope":{},"spans":[
{"traceId":"aa","startTimeUnixNano":"10","endTimeUnixNano":"20","attributes":[{"key":"op","value":{"stringValue":"read"}},{"key":"key","value":{"stringValue":"x"}}]},
{"traceId":"aa","startTimeUnixNano":"20","endTimeUnixNano":"30","attributes":[{"key":"op","value":{"stringValue":"write"}},{"key":"key","value":{"stringValue":"x"}},{"key":"value","value":{"intValue":"5"}}]},
{"traceId":"aa","startTimeUnixNano":"30","endTimeUnixNano":"31","attributes":[{"key":"op","value":{"stringValue":"read"}},{"key":"key","value":{"stringValue":"l"}},{"key":"value","value":{"arrayValue":{"values":[{"intValue":1},{"stringValue":"b"}]}}}]},
{"traceId":"aa","startTimeUnixNano":"31","endTimeUnixNano":"40","attributes":[{"key":"op","value":{"stringValue":"commit"}}]}]}]},
{"scopeSpans":[{"spans":[{"traceId":"bb","startTimeUnixNano":"50","endTimeUnixNano":"60","attributes":[{"key":"session","value":{"stringValue":"web-2"}},{"key":"op","value":{"stringValue":"write"}},{"key":"key","value":{"stringValue":"x"}},{"key":"value","value":{"intValue":"6"}}]}]}]}]})",
      kHist);
}

TEST(JsonTrace, ForeignSpansAreCounted) {
  auto r = read_history_text(
      R"({"spanId":"1","attributes":{"session":"a"}} {"spanId":"2","attributes":{"session":"a","op":"r","key":"x"}})",
      "f", {"json-trace"});
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->history.op_count(), 1u);
  ASSERT_EQ(r->notes.size(), 1u);
  EXPECT_EQ(r->notes[0].message, "left out 1 spans without the attributes session and op");
}

TEST(JsonTrace, IsDetectedByItsFields) {
  for (const char* text :
       {R"({"time":1,"session":1,"op":"w","key":"x","value":1})",
        R"([{"op":"w","session":1,"key":"x","value":1,"type":"ok"}])",
        R"({"traceId":"a","spanId":"b","attributes":{"session":1,"op":"r","key":"x"}})",
        R"({"resourceSpans":[]})"}) {
    auto r = read_history_text(text, "f");
    ASSERT_TRUE(r.ok()) << text << r.error().to_string();
    EXPECT_EQ(r->format, "json-trace");
  }
}

TEST(JsonTrace, RefusesBadInputAtItsPlace) {
  auto refuse = [](const std::string& text, uint64_t line, uint64_t column,
                   const std::string& part) {
    formats::expect_bad_input("json-trace", text, line, column, part);
  };
  refuse("[5]", 1, 2, "an operation or a span");
  refuse("{\"op\":\"r\",\"key\":1}", 1, 1, "expected a session");
  refuse("{\"session\":1,\"key\":1}", 1, 1, "expected an operation");
  refuse("{\"session\":1,\"op\":5}", 1, 19, "expected an operation");
  refuse("{\"session\":1,\n\"op\":\"jump\"}", 2, 6, "expected read, write");
  refuse("{\"session\":1,\"op\":\"r\"}", 1, 1, "expected a key");
  refuse("{\"session\":1,\"op\":\"w\",\"key\":1,\"value\":null}", 1, 39, "a value to write");
  refuse("{\"session\":1,\"op\":\"w\",\"key\":1,\"value\":1.5}", 1, 39, "64 bits");
  refuse("{\"session\":1,\"op\":\"r\",\"key\":1,\"value\":[{}]}", 1, 39, "a list of integers");
  refuse("{\"session\":1,\"op\":\"r\",\"key\":1,\"time\":\"noon\"}", 1, 38,
         "a time in nanoseconds");
  refuse("{\"session\":1,\"op\":\"r\",\"key\":1,\"status\":\"maybe\"}", 1, 40,
         "committed, aborted");
  refuse("{\"startTimeUnixNano\":\"x\"}", 1, 22, "nanoseconds");
  refuse("{\"attributes\":{\"session\":1,\"op\":\"r\",\"key\":1.5}}", 1, 43, "64 bits");
  refuse("{\"attributes\":[{\"key\":\"op\",\"value\":{\"boolValue\":true}}]}", 1, 16,
         "a stringValue");
  refuse("{\"resourceSpans\":5}", 1, 18, "an array of objects");
  refuse("{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[5]}]}]}", 1, 44, "an object");
  refuse("{\"session\":1,\"op\":\"r\",\"key\":1,\"startTimeUnixNano\":9,\"endTimeUnixNano\":8}", 1,
         51, "not after the end");
}

}  // namespace
}  // namespace assay::internal
