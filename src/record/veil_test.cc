#include "record/veil.h"

#include <gtest/gtest.h>

#include <string>

#include "evidence/test_decoding.h"

namespace assay::internal::record {
namespace {

// The key of SipHash's authors, and of their texts of so many bytes what they give.
constexpr Veil::Secret kSecret = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

TEST(Veil, ValuesAreHashedAsTheAuthorsDo) {
  const Veil veil(kSecret);
  std::string text;
  EXPECT_EQ(veil.value(text), "#726fdb47dd0e0e31");
  for (char c = 0; c < 15; ++c) text += c;
  EXPECT_EQ(veil.value(text), "#a129ca6149be45e5");
  EXPECT_EQ(veil.value(text.substr(0, 8)), "#93f5f5799a932462");
}

TEST(Veil, EqualValuesStayEqualWithinARecording) {
  const Veil one = Veil::drawn(), other = Veil::drawn();
  EXPECT_EQ(one.value("7"), one.value("7"));
  EXPECT_NE(one.value("7"), one.value("8"));
  EXPECT_NE(one.value("7"), other.value("7"));
}

TEST(Veil, ARowOfTheLogAndOneThatWasReadHaveTheSameKey) {
  const Veil veil(kSecret);
  Part part;
  part.from = {{"t", 3}, {"u", 4}};
  const std::string seven = veil.value("7"), text = veil.value("a,\"b'");
  EXPECT_EQ(veil.versions(part, "(16385,731,7,16390,732,7,\"a,\"\"b'\")"),
            "(16385,731," + seven + ",16390,732," + seven + "," + text + ")");
  EXPECT_EQ(veil.versions(part, "(16385,731,7,,,,)"), "(16385,731," + seven + ",,,,)");
  part.from = {{"t", 3}};
  part.aggregated = true;
  const std::string rows = veil.versions(part, "{\"(16385,731,7)\",\"(16385,9,7)\"}");
  EXPECT_EQ(rows, "{\"(16385,731," + seven + ")\",\"(16385,9," + seven + ")\"}");
  const std::string line = veil.logged(
      "table public.\"T\": UPDATE: old-key: id[integer]:7 new-tuple: id[integer]:8 "
      "\"A \"\"x\"[text]:'a,\"b''' n[text]:null big[text]:unchanged-toast-datum");
  const auto row = evidence::logged_row(line);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->table, "public.\"T\"");
  ASSERT_EQ(row->old_key.size(), 1u);
  EXPECT_EQ(row->old_key[0].text, seven);
  ASSERT_EQ(row->cells.size(), 4u);
  EXPECT_EQ(row->cells[0].text, veil.value("8"));
  EXPECT_EQ(row->cells[1].column, "A \"x");
  EXPECT_EQ(row->cells[1].text, text);
  EXPECT_FALSE(row->cells[2].text);
  EXPECT_TRUE(row->cells[3].unchanged);
  for (const char* const same : {"BEGIN 739", "COMMIT 739", "table public.t: TRUNCATE: (no-flags)"})
    EXPECT_EQ(veil.logged(same), same);
  EXPECT_EQ(veil.logged("table public.t of which nothing else is known: 7"), "");
}

TEST(Veil, StatementsHaveNeitherConstantsNorComments) {
  Part part;
  part.sql = "SELECT v FROM t /* of ann */ WHERE id = 17 AND who = 'ann' AND v = $1 -- 5";
  EXPECT_EQ(Veil::sql(part).find_first_of("57"), std::string::npos) << Veil::sql(part);
  EXPECT_NE(Veil::sql(part).find("id = ? AND who = ? AND v = $1"), std::string::npos);
  EXPECT_EQ(Veil::sql(part).find("ann"), std::string::npos);
}

TEST(Veil, ValuesOfClients) {
  const Veil veil(kSecret);
  EXPECT_EQ(veil.values(Json::parse(R"(["7",null,false])")).dump(),
            "[\"" + veil.value("7") + "\",null,false]");
  EXPECT_EQ(
      veil.values(Json::parse(R"({"id":7,"n":null,"on":true})")).dump(),
      "{\"id\":\"" + veil.value("7") + "\",\"n\":null,\"on\":\"" + veil.value("true") + "\"}");
}

}  // namespace
}  // namespace assay::internal::record
