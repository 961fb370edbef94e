#include "oracle/conditions.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <string>

#include "base/rng.h"
#include "history/predicates.h"
#include "oracle/random_condition.h"

namespace assay::internal::oracle {
namespace {

Match match_of_text(std::string_view condition, std::string_view text) {
  return condition_match(*parse_condition(condition), ValueView::of(text));
}

TEST(OracleConditions, likeTriesEveryPlace) {
  EXPECT_EQ(match_of_text("value like 'a%b'", "acb"), Match::yes);
  EXPECT_EQ(match_of_text("value like 'a%b'", "ab"), Match::yes);
  EXPECT_EQ(match_of_text("value like 'a%b'", "accbb"), Match::yes);
  EXPECT_EQ(match_of_text("value like 'a%b'", "acbc"), Match::no);
  EXPECT_EQ(match_of_text("value like '%ab%c_'", "aababcca"), Match::yes);
  EXPECT_EQ(match_of_text("value like '_'", ""), Match::no);
  EXPECT_EQ(match_of_text("value like '%'", ""), Match::yes);
  EXPECT_EQ(match_of_text("value like ''", "a"), Match::no);
}

TEST(OracleConditions, leavesOpenWhatDatabasesDifferIn) {
  EXPECT_EQ(match_of_text("value = 1", "1"), Match::open);
  EXPECT_EQ(match_of_text("name = 'a'", "a"), Match::open);
  EXPECT_EQ(match_of_text("value like 'ä'", "ä"), Match::open);
  EXPECT_EQ(match_of_text("value like '\\%'", "\\%"), Match::open);
  EXPECT_EQ(match_of_text("value = 'ä'", "ä"), Match::yes);
  EXPECT_EQ(match_of_text("value < 'ä'", "z"), Match::yes);
  EXPECT_EQ(match_of_text("value = 'b' and value = 1", "a"), Match::no);
  EXPECT_EQ(match_of_text("value = 'a' or value = 1", "a"), Match::yes);
}

TEST(OracleConditions, nullIsNeitherTrueNorFalse) {
  const std::string row = R"({"e":null,"n":7})";
  const auto match = [&](std::string_view condition) {
    return condition_match(*parse_condition(condition), ValueView::row(row));
  };
  EXPECT_EQ(match("e = 1"), Match::no);
  EXPECT_EQ(match("not e = 1"), Match::no);
  EXPECT_EQ(match("e like 'a'"), Match::no);
  EXPECT_EQ(match("n not in (8, null)"), Match::no);
  EXPECT_EQ(match("n not between 8 and null"), Match::yes);
  EXPECT_EQ(match("n not between 7 and null"), Match::no);
  EXPECT_EQ(match("e is null and n = 7"), Match::yes);
  EXPECT_EQ(condition_match(*parse_condition(""), ValueView::null()), Match::no);
}

// The values and the constants of the comparison: few of each kind, so that they meet.
std::string some_text(Rng& rng) {
  constexpr const char* kOdd[] = {"%", "_", "\\", "ä", "A", "\"", "\n"};
  std::string text;
  for (uint64_t left = rng.below(5); left > 0; --left)
    text += rng.chance(0.04) ? kOdd[rng.below(std::size(kOdd))] : rng.chance(0.6) ? "a" : "b";
  return text;
}
int64_t some_integer(Rng& rng) {
  constexpr int64_t kOdd[] = {INT64_MIN, INT64_MAX, -1};
  return rng.chance(0.1) ? kOdd[rng.below(std::size(kOdd))] : rng.between(0, 4);
}

Cell some_cell(Rng& rng) {
  constexpr const char* kOther[] = {"1.0", "true", "18446744073709551615", R"({"a":["}",1]})",
                                    "1e0"};
  switch (rng.below(9)) {
    case 0:
      return {};
    case 1:
      return {Cell::Type::other, 0, kOther[rng.below(std::size(kOther))]};
    case 2:
    case 3:
    case 4:
      return {Cell::Type::integer, some_integer(rng), {}};
    default:
      return {Cell::Type::string, 0, some_text(rng)};
  }
}

// Engine and verifier share one evaluation of conditions, and this is the other.
TEST(OracleConditions, agreeWithTheOtherEvaluation) {
  Rng rng(11);
  const ConditionShape shape{.columns = {"value", "value", "b", "\"b c\""},
                             .constant = [&]() -> std::string {
                               if (rng.chance(0.4)) return std::to_string(some_integer(rng));
                               std::string text = some_text(rng);
                               std::erase(text, '\'');
                               return "'" + text + "'";
                             }};
  uint64_t counts[3] = {};
  for (int round = 0; round < 60'000; ++round) {
    const std::string text = random_condition(rng, shape);
    const Result<Condition> condition = parse_condition(text);
    ASSERT_TRUE(condition.ok()) << text << ": " << condition.error().message;
    const int64_t integer = some_integer(rng);
    std::string held = some_text(rng);
    ValueView value =
        rng.chance(0.3) ? ValueView::of(integer) : ValueView::of(std::string_view(held));
    if (rng.chance(0.4)) {
      Row row;
      for (const char* column : {"b", "b c", "value"})
        if (rng.chance(0.9)) row.emplace_back(column, some_cell(rng));
      held = row_text(row);
      value = ValueView::row(held);
    }
    const Match match = condition_match(*condition, value);
    ASSERT_EQ(match, match_of(*condition, value)) << text << " of " << value.to_string();
    ++counts[static_cast<size_t>(match)];
  }
  for (const uint64_t count : counts) EXPECT_GT(count, 5'000u);
}

}  // namespace
}  // namespace assay::internal::oracle
