#include "history/condition.h"

#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <string>

#include "base/rng.h"
#include "history/predicates.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

// The columns of the tests: n is an integer, s a text, e null, f a number that is no integer.
std::string a_row() {
  return row_text({{"n", {Cell::Type::integer, 7, {}}},
                   {"s", {Cell::Type::string, 0, "ab\"c"}},
                   {"e", {}},
                   {"f", {Cell::Type::other, 0, "1.5"}}});
}

Match match(std::string_view condition) {
  const Result<Condition> parsed = parse_condition(condition);
  EXPECT_TRUE(parsed.ok()) << condition << ": " << (parsed.ok() ? "" : parsed.error().message);
  const std::string row = a_row();
  return parsed.ok() ? match_of(*parsed, ValueView::row(row)) : Match::open;
}

TEST(Condition, comparesIntegersAndTexts) {
  for (const char* holds : {"n = 7",
                            "n != 8",
                            "n <> 8",
                            "n < 8",
                            "n <= 7",
                            "n > 6",
                            "n >= 7",
                            "n between 7 and 7",
                            "n in (1, 7)",
                            "s = 'ab\"c'",
                            "s >= 'ab'",
                            "s like 'a%'",
                            "s like '_b_c'",
                            "s like '%c'",
                            "s like '%\"%c'",
                            "s like '_%c'",
                            "s like 'ab%c%'",
                            "e is null",
                            "n is not null",
                            "\"n\" = 7",
                            "n = 7 and s < 'b'",
                            "n = 8 or s < 'b'",
                            "not n = 8",
                            "not (n = 8 and s < 'b')",
                            "n not between 8 and 9",
                            "n not in (8)",
                            "N_ = 1 or n = 7",
                            ""})
    EXPECT_EQ(match(holds), Match::yes) << holds;
  for (const char* fails : {"n = 8", "n != 7", "n < 7", "n > 7", "n between 8 and 6",
                            "n between 1 and 6", "n in (1, 2)", "s like 'b%'", "s like 'ab'",
                            "s like ''", "n is null", "n = 7 and s = 'x'", "n not in (7)"})
    EXPECT_EQ(match(fails), Match::no) << fails;
}

// The stretch that a % stands for ends where the rest of the pattern fits, which may not be the
// first place that looks like it.
TEST(Condition, likeTriesEveryPlaceBehindAPercentSign) {
  const auto like = [](std::string_view text, std::string_view condition) {
    return match_of(*parse_condition(condition), ValueView::of(text));
  };
  EXPECT_EQ(like("acb", "value like 'a%b'"), Match::yes);
  EXPECT_EQ(like("accb", "value like 'a%b'"), Match::yes);
  EXPECT_EQ(like("abcb", "value like 'a%cb'"), Match::yes);
  EXPECT_EQ(like("aababcca", "value like '%ab%c_'"), Match::yes);
  EXPECT_EQ(like("ab", "value like 'a%b'"), Match::yes);
  EXPECT_EQ(like("acbc", "value like 'a%b'"), Match::no);
  EXPECT_EQ(like("a", "value like 'a_%'"), Match::no);
}

TEST(Condition, nullIsNeitherTrueNorFalse) {
  for (const char* fails : {"e = 1", "not e = 1", "e != 1", "e in (1, 2)", "e not in (1, 2)",
                            "n in (8, null)", "n not in (8, null)", "e = null", "n = 7 and e = 1"})
    EXPECT_EQ(match(fails), Match::no) << fails;
  EXPECT_EQ(match("n = 7 or e = 1"), Match::yes);
  EXPECT_EQ(match("n in (7, null)"), Match::yes);
}

TEST(Condition, leavesOpenWhatDatabasesDifferIn) {
  for (const char* open : {"n = '7'", "s > 1", "f > 1", "missing = 1", "missing is null",
                           "s like '\\%'", "n = 7 and f = 1"})
    EXPECT_EQ(match(open), Match::open) << open;
  EXPECT_EQ(match("f is not null"), Match::yes);
  EXPECT_EQ(match("n = 8 and f > 1"), Match::no);
  EXPECT_EQ(match("n = 7 or f > 1"), Match::yes);
}

TEST(Condition, namesWhatItExpectedAndWhere) {
  const auto fault = [](std::string_view text) {
    const Result<Condition> parsed = parse_condition(text);
    return parsed.ok() ? "none"
                       : std::to_string(parsed.error().column) + " " + parsed.error().message;
  };
  EXPECT_EQ(fault("n >"), "4 expected an integer of 64 bits, a 'text' or null in the condition");
  EXPECT_EQ(fault("n = 1 n = 2"),
            "7 expected 'and', 'or' or the end of the condition in the condition");
  EXPECT_EQ(fault("and = 1"), "1 expected the name of a column in the condition");
  EXPECT_EQ(fault("n ~ 1"),
            "3 expected one of = != < <= > >= between, in, like, is in the condition");
  EXPECT_EQ(fault("n = 1.5"),
            "5 expected an integer of 64 bits, a 'text' or null in the condition");
  EXPECT_EQ(fault("s = 'a"),
            "5 expected a closing quote for the text that begins here in the condition");
  EXPECT_EQ(fault("(n = 1"), "7 expected ')' in the condition");
  EXPECT_EQ(fault(std::string(70, '(') + "n = 1" + std::string(70, ')')),
            "66 expected a condition nested at most 64 deep in the condition");
}

TEST(Condition, isReadAsItIsPrinted) {
  for (const char* text :
       {"n = 1", "n != 1", "n >= 1 and n < 3", "n = 1 or (n = 2 and s = 'it''s')",
        "not (n in (1, null))", "\"a b\" is not null", "n between -3 and 4", "s like 'x%'",
        "not (n = 1 or n = 2)", "e is null"}) {
    const std::string printed = parse_condition(text)->to_string();
    EXPECT_EQ(printed, text);
    EXPECT_EQ(parse_condition(printed)->to_string(), printed);
  }
  EXPECT_EQ(parse_condition(" N>=1 AND(n<>2)")->to_string(), "N >= 1 and n != 2");
}

TEST(Row, isReadAsItIsPrinted) {
  const std::string text = a_row();
  EXPECT_EQ(text, R"({"e":null,"f":1.5,"n":7,"s":"ab\"c"})");
  EXPECT_EQ(row_text(row_of(ValueView::row(text))), text);
  const std::string odd = row_text({{"a\n", {Cell::Type::other, 0, R"({"x":["}",1]})"}},
                                    {"b", {Cell::Type::string, 0, "\x01\\"}}});
  EXPECT_EQ(row_text(row_of(ValueView::row(odd))), odd);
  EXPECT_EQ(row_text(row_of(ValueView::row("{}"))), "{}");
}

bool is_tombstone(const History& h, VersionId v) {
  bool deleted = false, written = h.is_initial(v);
  for (OpId i = 0; i < h.op_count(); ++i)
    if (installs_version(h.op(i)) && h.op(i).version == v)
      (h.op(i).kind == OpKind::remove ? deleted : written) = true;
  return deleted && !written;
}

// What the bounds of a condition leave out does not satisfy it, and what deletes leave does not
// either.
TEST(Predicates, findsWhatEveryRowSays) {
  Rng rng(7);
  uint64_t satisfied = 0;
  for (int i = 0; i < 300; ++i) {
    const Result<History> history = random_draft(rng, {.rich = 1, .predicates = 0.9}).history();
    if (!history.ok() || !history->has_predicates()) continue;
    const Predicates& predicates = history->predicates();
    for (PredicateId p = 0; p < predicates.size(); ++p)
      for (VersionId v = 0; v < history->version_count(); ++v) {
        const Match expected = is_tombstone(*history, v)
                                   ? Match::no
                                   : match_of(predicates.condition(p), history->version_value(v));
        EXPECT_EQ(predicates.match(p, v), expected) << predicates.text(p);
        satisfied += expected == Match::yes;
      }
  }
  EXPECT_GT(satisfied, 500u);
}

// Integers within the bounds of comparisons of one column are not looked at again.
TEST(Predicates, keepsToTheBoundsOfComparisons) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const int64_t numbers[] = {kLeast, kLeast + 1, -1, 0, 1, 2, kMost - 1, kMost};
  Rng rng(3);
  const auto number = [&] { return std::to_string(numbers[rng.below(std::size(numbers))]); };
  const auto comparison = [&] {
    constexpr const char* kOperators[] = {" = ", " < ", " <= ", " > ", " >= ", " != "};
    const std::string column = rng.below(6) == 0 ? "b" : "a";
    std::string text = rng.below(4) == 0
                           ? column + " between " + number() + " and " + number()
                           : column + kOperators[rng.below(std::size(kOperators))] + number();
    return rng.below(3) == 0 ? "not (" + text + ")" : text;
  };
  for (int round = 0; round < 300; ++round) {
    std::string where = comparison();
    for (uint64_t more = rng.below(3); more > 0; --more)
      where += (rng.below(5) == 0 ? " or " : " and ") + comparison();
    HistoryBuilder builder;
    builder.begin_txn({.session = ValueView::of(int64_t{1})});
    std::string texts[std::size(numbers)];
    for (size_t key = 0; key < std::size(numbers); ++key) {
      Row row = {{"a", {Cell::Type::integer, numbers[key], {}}}};
      if (rng.below(3) == 0) row[0].second = {};
      if (rng.below(2) == 0)
        row.push_back({"b", {Cell::Type::integer, numbers[rng.below(std::size(numbers))], {}}});
      texts[key] = row_text(row);
      builder.add(Op::write(ValueView::of(static_cast<int64_t>(key)), ValueView::row(texts[key])));
    }
    ASSERT_TRUE(builder.add(Op::select({}, {}, where))) << where;
    ASSERT_TRUE(builder.end_txn().ok());
    const Result<History> history = std::move(builder).finish();
    ASSERT_TRUE(history.ok());
    const Predicates& predicates = history->predicates();
    for (VersionId v = 0; v < history->version_count(); ++v)
      EXPECT_EQ(predicates.match(0, v),
                match_of(predicates.condition(0), history->version_value(v)))
          << where << ' ' << history->version_value(v).to_string();
  }
}

TEST(Predicates, sameConditionsAreOne) {
  Predicates predicates;
  const PredicateId one = *predicates.intern("n>=1  and n<3");
  EXPECT_EQ(*predicates.intern("n >= 1 and n < 3"), one);
  EXPECT_EQ(*predicates.intern("n>=1  and n<3"), one);
  EXPECT_NE(*predicates.intern("n >= 1"), one);
  EXPECT_EQ(predicates.size(), 2u);
  EXPECT_FALSE(predicates.intern("n >=").ok());
}

}  // namespace
}  // namespace assay::internal
