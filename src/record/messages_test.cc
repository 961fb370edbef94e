#include "record/messages.h"

#include <gtest/gtest.h>

#include <utility>

namespace assay::internal::record {
namespace {

std::string startup(uint32_t code, std::string_view rest) {
  std::string body, all;
  put_int32(body, code);
  body += rest;
  put_int32(all, static_cast<uint32_t>(body.size() + 4));
  return all + body;
}

std::string row(const std::vector<std::optional<std::string>>& cells) {
  std::string body;
  put_int16(body, static_cast<uint16_t>(cells.size()));
  for (const auto& cell : cells) {
    put_int32(body, cell ? static_cast<uint32_t>(cell->size()) : UINT32_MAX);
    body += cell.value_or("");
  }
  return body;
}

TEST(Messages, MechanismsThatAreBoundToTheChannelAreNotOffered) {
  using namespace std::string_literals;
  EXPECT_EQ(without_channel_binding("\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"s),
            "\0\0\0\x0aSCRAM-SHA-256\0\0"s);
  for (const std::string& other : {"\0\0\0\0"s, "\0\0\0\x0bX-PLUS\0"s, ""s})
    EXPECT_EQ(without_channel_binding(other), other);
}

TEST(Messages, StartupSaysWhoComes) {
  using namespace std::string_view_literals;
  const std::string whole =
      startup(196608, "user\0ann\0application_name\0shop\0replication\0true\0\0"sv);
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(read_startup(std::string_view(whole).substr(0, n))) << n;
  const auto found = read_startup(whole + "more");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Startup::Kind::start);
  EXPECT_EQ(found->user, "ann");
  EXPECT_EQ(found->database, "ann");
  EXPECT_EQ(found->program, "shop");
  EXPECT_TRUE(found->replicates);
  EXPECT_EQ(found->size, whole.size());
  EXPECT_EQ(read_startup(startup(80877103, ""))->kind, Startup::Kind::tls);
  EXPECT_EQ(read_startup(startup(80877104, ""))->kind, Startup::Kind::gss);
  EXPECT_EQ(read_startup(startup(80877102, "12345678"))->kind, Startup::Kind::cancel);
  EXPECT_EQ(read_startup(startup(2 << 16, ""))->kind, Startup::Kind::other);
  // As long as a server would not take it.
  EXPECT_EQ(read_startup("\x7f\xff\xff\xff")->kind, Startup::Kind::other);
}

TEST(Messages, BindForOneColumnMore) {
  const auto bind = [](const std::vector<uint16_t>& results) {
    std::string body("p\0s\0", 4);
    put_int16(body, 1);
    put_int16(body, 1);
    put_int16(body, 2);
    put_int32(body, 1);
    body += "7";
    put_int32(body, UINT32_MAX);
    put_int16(body, static_cast<uint16_t>(results.size()));
    for (const uint16_t r : results) put_int16(body, r);
    return body;
  };
  const std::string whole = bind({1, 0});
  const auto two = read_bind(whole);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->portal, "p");
  EXPECT_EQ(two->statement, "s");
  ASSERT_EQ(two->values.size(), 2u);
  EXPECT_EQ(two->values[0], "7");
  EXPECT_FALSE(two->values[1]);
  EXPECT_TRUE(two->binary[0]);
  EXPECT_EQ(two->one_more, bind({1, 0, 0}));
  // None means text, and one is that of all.
  EXPECT_EQ(read_bind(bind({}))->one_more, bind({}));
  EXPECT_EQ(read_bind(bind({1}))->one_more, bind({1}));
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(read_bind(std::string_view(whole).substr(0, n))) << n;
}

TEST(Messages, TheLastColumnIsTakenAway) {
  const auto shorter = without_last_cell(row({"a", std::nullopt, "(1,2)"}));
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->body, row({"a", std::nullopt}));
  EXPECT_EQ(shorter->last, "(1,2)");
  EXPECT_FALSE(without_last_cell(row({std::nullopt}))->last);
  EXPECT_FALSE(without_last_cell(row({})));
  EXPECT_FALSE(without_last_cell(row({"a"}) + "x"));
  const std::string whole = row({"a", "b"});
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(without_last_cell(std::string_view(whole).substr(0, n))) << n;

  std::string fields, one;
  put_int16(fields, 2);
  put_int16(one, 1);
  for (std::string* to : {&fields, &one}) put_text(*to, "id");
  fields += std::string(18, 'i');
  one += std::string(18, 'i');
  put_text(fields, "assay_rows");
  fields += std::string(18, 'a');
  EXPECT_EQ(without_last_field(fields), one);
  EXPECT_FALSE(without_last_field(std::string(2, '\0')));
}

TEST(Messages, AnErrorPointsIntoTheStatementOfTheClient) {
  using namespace std::string_literals;
  const std::string body = "SERROR\0C42703\0P40\0\0"s;
  EXPECT_EQ(error_field(body, 'C'), "42703");
  EXPECT_EQ(error_field(body, 'X'), "");
  EXPECT_EQ(with_position_moved(body, 10, 25), "SERROR\0C42703\0P15\0\0"s);
  EXPECT_EQ(with_position_moved(body, 40, 25), body);
  // In what was put in.
  EXPECT_EQ(with_position_moved(body, 30, 25), "SERROR\0C42703\0P30\0\0"s);
}

TEST(Messages, CutsWhatComesInPieces) {
  std::string all;
  put_message(all, 'Q', "select");
  put_message(all, 'd', "copied");
  put_message(all, 'S', "");
  for (size_t piece = 1; piece <= all.size(); ++piece) {
    Cutter cutter;
    std::string out, taken;
    for (size_t at = 0; at < all.size(); at += piece)
      ASSERT_TRUE(cutter.feed(
          std::string_view(all).substr(at, piece), out, [](char type) { return type != 'd'; },
          [&](char type, std::string_view body) {
            taken += type;
            taken += body;
            return true;
          }));
    EXPECT_EQ(taken, "QselectS");
    std::string passed;
    put_message(passed, 'd', "copied");
    EXPECT_EQ(out, passed);
  }
  Cutter cutter;
  std::string out;
  const auto all_of = [](char) { return true; };
  const auto take = [](char, std::string_view) { return true; };
  EXPECT_FALSE(cutter.feed(std::string("Q\0\0\0\3", 5), out, all_of, take));
  EXPECT_FALSE(Cutter().feed("Q\x7f\xff\xff\xff", out, all_of, take));
}

}  // namespace
}  // namespace assay::internal::record
