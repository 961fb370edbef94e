// A history without its names has the verdicts of the one with them, and nothing of what it held.
#include "history/anonymize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string>

#include "assay/format.h"
#include "cases.h"
#include "levels/walk.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

bool same_outcomes(const History& a, const History& b, std::string& why) {
  CheckOptions options;
  for (const LevelInfo& level : all_levels()) options.levels.push_back(level.id);
  const CheckResult before = decide_levels(a, options), after = decide_levels(b, options);
  for (size_t i = 0; i < before.verdicts.size(); ++i) {
    if (before.verdicts[i].outcome == after.verdicts[i].outcome) continue;
    why = std::string(level_info(before.verdicts[i].level).name);
    return false;
  }
  return true;
}

TEST(Anonymized, HasTheSameVerdictsAtEveryLevel) {
  const RandomShape shapes[] = {
      {},
      {.duplicates = 1},
      {.duplicates = 0.2, .lists = 1},
      {.duplicates = 0.2, .rich = 1},
      {.rich = 0.5, .ordered = 1},
      {.duplicates = 0.5, .rich = 0.5, .loose = 1, .named = 0.9, .complete = 0.4},
      {.duplicates = 1, .sourced = 1},
      {.max_txns = 9, .max_keys = 2, .timed = 1, .rich = 0.5, .single_op = 1},
      {.duplicates = 0.3, .rich = 0.5, .own_initial = 1}};
  Rng rng(rotated(61));
  uint64_t compared = 0;
  for (uint64_t i = 0; i < scaled(10'000, 500); ++i) {
    const Draft draft = random_draft(rng, shapes[i % std::size(shapes)]);
    const Result<History> history = draft.history();
    if (!history.ok() || history->has_predicates()) continue;
    const Result<History> shown = anonymized(*history);
    ASSERT_TRUE(shown.ok()) << shown.error().to_string() << "\n" << draft.text();
    ++compared;
    std::string why;
    EXPECT_TRUE(same_outcomes(*history, *shown, why)) << why << "\n" << draft.text();
    // As a file, too.
    std::string text;
    ASSERT_TRUE(write_history_text(*shown, "assay", text).ok());
    Result<ReadResult> again = read_history_text(text, "again", {"assay"});
    ASSERT_TRUE(again.ok()) << again.error().to_string() << "\n" << text;
    again->history.set_clock_drift(history->clock_drift());
    EXPECT_EQ(again->history.content_hash(), shown->content_hash()) << text;
  }
  RecordProperty("compared", static_cast<int>(compared));
  EXPECT_GT(compared, 100u);
}

Result<History> shown(const std::string& text, std::string* as_text = nullptr) {
  Result<ReadResult> read = read_history_text(text, "secret", {"assay"});
  if (!read.ok()) return read.error();
  Result<History> history = anonymized(read->history);
  if (history.ok() && as_text != nullptr) {
    EXPECT_TRUE(write_history_text(*history, "assay", *as_text).ok());
  }
  return history;
}

// Words and numbers of a text.
std::set<std::string> tokens(const std::string& text) {
  std::set<std::string> found;
  std::string token;
  for (const char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-') {
      token += c;
    } else {
      if (token.size() > 3) found.insert(token);
      token.clear();
    }
  }
  return found;
}

constexpr char kSecret[] = R"({"assay":1,"meta":{"host":"db7.example.org"},"initial":4711}
{"key":"acct-77","initial":815815}
{"session":"alice","txn":"pay-1","level":"serializable","begin":[90001000,90001010],"end":[90002000,90002020],"start_ts":77001,"commit_ts":77009,"snapshot":"771:779","meta":{"sql":"UPDATE accounts"},"ops":[["r","acct-77",815815],["w","acct-77",120120],["append","log-9","entry-1"]]}
{"session":"bob-jones","txn":"pay-2","begin":[90001500,90001510],"end":[90003000,90003020],"start_ts":77002,"commit_ts":77011,"ops":[["r","acct-77",120120,{"from":"pay-1"}],["d","acct-12","gone-1"],["cas","acct-55",4711,131313,true],["r","log-9",["entry-1"]]]}
{"session":"bob-jones","txn":"pay-3","status":"aborted","ops":[["insert","acct-99","row-of-ann",true],["range","acct-11","acct-88",[["acct-77",120120]]]]}
{"event":"nemesis","at":90001700,"node":"db8.example.org"}
{"key":"acct-77","order":[120120]}
)";

TEST(Anonymized, KeepsNoWordAndNoNumber) {
  std::string text;
  const Result<History> history = shown(kSecret, &text);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  const std::set<std::string> left = tokens(text);
  // What the format says itself, and levels.
  const std::set<std::string> words = {"from",   "assay",   "meta",         "initial",  "session",
                                       "begin",  "level",   "order",        "append",   "range",
                                       "insert", "aborted", "serializable", "status",   "true",
                                       "start",  "commit",  "start_ts",     "commit_ts"};
  for (const std::string& token : tokens(kSecret))
    if (!words.contains(token)) {
      EXPECT_FALSE(left.contains(token)) << token << " is left in\n" << text;
    }
  EXPECT_EQ(history->begin_time(0), (Interval{0, 10}));
  EXPECT_EQ(history->end_time(1), (Interval{2000, 2020}));
  EXPECT_EQ(history->commit_ts(0), 3);
}

TEST(Anonymized, KeysStayInTheirOrder) {
  const Result<History> history = shown(
      "{\"assay\":1}\n{\"session\":1,\"ops\":[[\"w\",\"b\",1],[\"w\",\"a\",1],[\"w\",50,2]]}\n");
  ASSERT_TRUE(history.ok());
  const auto key = [&](OpId i) { return history->key(history->op(i).key).integer; };
  EXPECT_EQ(key(2), 1);
  EXPECT_EQ(key(1), 2);
  EXPECT_EQ(key(0), 3);
  EXPECT_EQ(history->version_value(history->op(0).version),
            history->version_value(history->op(1).version));
}

TEST(Anonymized, ConditionsAreRefused) {
  Result<ReadResult> read = read_history_text("a: { p(x..y: value < 9,[]) }\n", "h", {"hist"});
  ASSERT_TRUE(read.ok());
  const Result<History> history = anonymized(read->history);
  ASSERT_FALSE(history.ok());
  EXPECT_NE(history.error().message.find("conditions"), std::string::npos);
}

}  // namespace
}  // namespace assay::internal
