#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"

namespace assay::internal {
namespace {

constexpr std::string_view kBare = R"([[{"events":[{"Write":{"variable":1,"version":2}},
{"Read":{"variable":1,"version":null}}],"committed":true},{"events":[],"committed":false}],
[{"committed":true,"events":[{"Read":{"variable":"x","version":3}}]}]])";
constexpr std::string_view kSame = "0: { w(1,2) r(1,null) } {}!\n1: { r(x,3) }\n";

TEST(DbcopJson, BareSessions) { formats::expect_same_history("dbcop-json", kBare, kSame); }

TEST(DbcopJson, WrappedSessionsWithMetadata) {
  std::string text = R"({"params":{"id":0,"n_node":2},"info":"x","start":"s","end":"e","data":)" +
                     std::string(kBare) + "}";
  formats::expect_same_history("dbcop-json", text, kSame);
  auto r = read_history_text(text, "f");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->format, "dbcop-json");
  EXPECT_EQ(r->history.meta(),
            R"({"params":{"id":0,"n_node":2},"info":"x","start":"s","end":"e"})");
}

TEST(DbcopJson, RefusesBadInputAtItsPlace) {
  auto refuse = [](std::string_view text, uint64_t line, uint64_t column, const std::string& part) {
    formats::expect_bad_input("dbcop-json", text, line, column, part);
  };
  refuse("5", 1, 1, "an array of sessions");
  refuse("{\"params\":{}}", 1, 1, "a field \"data\"");
  refuse("[\n5]", 2, 1, "a session");
  refuse("[[\n\n 5]]", 3, 2, "a transaction");
  refuse("[[{\"events\":[]}]]", 1, 3, "a field \"committed\"");
  refuse("[[{\"events\":[5],\"committed\":true}]]", 1, 14, "\"Read\"");
  refuse("{\"data\":[[{\"events\":[{\"Read\":5}],\"committed\":true}]]}", 1, 22, "\"Read\"");
  refuse("[[{\"events\":[{\"Read\":{\"variable\":null}}],\"committed\":true}]]", 1, 34, "64 bits");
  refuse("[[{\"events\":[{\"Write\":{\"variable\":1,\"version\":null}}],\"committed\":true}]]", 1,
         47, "an integer of 64 bits");
  refuse("[[{\"events\":[}]]", 1, 14, "not valid JSON");
  refuse("[[\n", 2, 1, "unexpected end");
}

// dbcop's command line wants the object, with numbers where its schema has numbers.
TEST(DbcopJson, WritesTheObjectAroundTheSessions) {
  auto r = read_history_text("0: { w(x,1) r(y,null) } { r(x,1) }\n1: { r(x,1) }\n", "h", {"hist"});
  ASSERT_TRUE(r.ok());
  std::string text;
  ASSERT_TRUE(write_history_text(r->history, "dbcop-json", text).ok());
  EXPECT_TRUE(text.starts_with(
      "{\"params\":{\"id\":0,\"n_node\":2,\"n_variable\":2,\"n_transaction\":2,\"n_event\":2},"
      "\"info\":\"written by assay\",\"start\":\"1970-01-01T00:00:00Z\","
      "\"end\":\"1970-01-01T00:00:00Z\",\n\"data\":[\n[{\"events\":["))
      << text;
  EXPECT_TRUE(text.ends_with("]\n]}\n")) << text;
}

TEST(DbcopJson, RoundTrip) { formats::expect_stable_round_trip("dbcop-json", {.times = false}); }

}  // namespace
}  // namespace assay::internal
