#include "base/json.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace assay::internal {
namespace {

TEST(Json, PrintsWhatItRead) {
  const std::string text =
      R"({"b":[1,-2,18446744073709551615,-9223372036854775808,1.5,true,false,null],"a":{"x":{}},"c":"\"\\\n"})";
  EXPECT_EQ(Json::parse(text).dump(), text);
}

TEST(Json, OfMembersOfOneNameTheLastCounts) {
  EXPECT_EQ(Json::parse(R"({"a":1,"b":2,"a":3})").dump(), R"({"b":2,"a":3})");
}

TEST(Json, WhatIsNoJsonIsDiscarded) {
  for (const char* text : {"", "{", "[1,]", "{\"a\"}", "1 2", "nul", "\"\xff\"", "{\"a\":1}}"})
    EXPECT_TRUE(Json::parse(text).is_discarded()) << text;
  EXPECT_NE(Json::parse("{"), Json::parse("{"));
}

TEST(Json, IsNotReadDeeperThanItMayBeNested) {
  const auto nested = [](size_t depth) {
    return Json::parse(std::string(depth, '[') + std::string(depth, ']'));
  };
  EXPECT_TRUE(nested(1024).is_array());
  EXPECT_TRUE(nested(1025).is_discarded());
  EXPECT_TRUE(nested(5'000'000).is_discarded());
}

TEST(Json, BracesAreAnObjectIfTheyArePairs) {
  EXPECT_EQ((Json{{"at", 1}, {"what", "kill"}}).dump(), R"({"at":1,"what":"kill"})");
  EXPECT_EQ((Json{"r", 1}).dump(), R"(["r",1])");
  EXPECT_EQ((Json{{1, 2}, {"a", 2}}).dump(), R"([[1,2],["a",2]])");
  EXPECT_EQ(Json::array({"r", "w"}).dump(), R"(["r","w"])");
}

TEST(Json, TakesWhatAHistoryIsMadeOf) {
  EXPECT_EQ(Json(std::set<std::string>{"b", "a"}).dump(), R"(["a","b"])");
  EXPECT_EQ(Json(std::vector<std::array<uint32_t, 2>>{{1, 2}}).dump(), "[[1,2]]");
  EXPECT_EQ(Json(INT64_MIN).dump(), "-9223372036854775808");
  EXPECT_EQ(Json(UINT64_MAX).dump(), "18446744073709551615");
  EXPECT_EQ(Json(0.25).dump(), "0.25");
  EXPECT_EQ(Json('a' == 'b').dump(), "false");
}

TEST(Json, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(Json("a\xff"
                 "b")
                .dump(),
            "\"a\xef\xbf\xbd"
            "b\"");
  EXPECT_EQ(Json("\xc3\xa9").dump(-1, true), R"("\u00e9")");
}

TEST(Json, IsIndented) {
  EXPECT_EQ((Json{{"a", Json::array({1, 2})}, {"b", Json::object()}}).dump(1),
            "{\n \"a\": [\n  1,\n  2\n ],\n \"b\": {}\n}");
}

TEST(Json, AMemberThatIsNotThereIsNull) {
  const Json j = {{"a", "x"}, {"n", 7}};
  EXPECT_TRUE(j["b"].is_null());
  EXPECT_EQ(j.value("b", 3), 3);
  EXPECT_EQ(j.text("a"), "x");
  EXPECT_EQ(j.text("n", "none"), "none");
  EXPECT_EQ(j["n"].integer(), 7);
  EXPECT_EQ(j["a"].integer(), 0);
}

TEST(Json, MembersAreAddedAndReplaced) {
  Json j;
  j["b"]["c"] = 1;
  j.update({{"b", 2}, {"d", 3}});
  EXPECT_EQ(j.dump(), R"({"b":2,"d":3})");
}

TEST(Json, EqualIsWhatIsWorthTheSame) {
  EXPECT_EQ(Json(1), Json(1u));
  EXPECT_NE(Json(-1), Json(UINT64_MAX));
  EXPECT_EQ(Json(0.0), Json(0));
  EXPECT_NE(Json(0.5), Json(0));
  EXPECT_NE(Json(true), Json(1));
  EXPECT_EQ(Json::parse(R"({"a":1,"b":[2]})"), Json::parse(R"({"b":[2],"a":1})"));
  EXPECT_NE(Json::parse(R"({"a":1})"), Json::parse(R"({"a":2})"));
}

TEST(Json, AnIntegerOf64BitsIsTold) {
  EXPECT_TRUE(Json::parse("9223372036854775807").is_int64());
  EXPECT_FALSE(Json::parse("9223372036854775808").is_int64());
  EXPECT_FALSE(Json::parse("1.0").is_int64());
}

}  // namespace
}  // namespace assay::internal
