#include "explain/circumstances.h"

#include <gtest/gtest.h>

#include "explain/explain.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

// Two commits of one session, of which the second does not see the first; the events stand in
// between.
Explanation explained(const std::vector<std::pair<int64_t, std::string>>& events) {
  HistoryBuilder builder;
  const auto x = ValueView::of("x");
  builder.begin_txn({.session = ValueView::of(1),
                     .name = "a",
                     .begin = Interval::point(1'000'000'000),
                     .end = Interval::point(1'100'000'000)});
  builder.add(Op::write(x, ValueView::of(1)));
  EXPECT_TRUE(builder.end_txn().ok());
  for (const auto& [at, json] : events) builder.event(at, json);
  builder.begin_txn({.session = ValueView::of(1),
                     .name = "b",
                     .begin = Interval::point(5'000'000'000),
                     .end = Interval::point(5'100'000'000)});
  builder.add(Op::read(x, {}));
  EXPECT_TRUE(builder.end_txn().ok());
  auto history = std::move(builder).finish();
  EXPECT_TRUE(history.ok());
  CheckOptions options;
  options.levels = {LevelId::session_serializable};
  const auto explanations = explain(*history, decide_levels(*history, options));
  EXPECT_EQ(explanations.size(), 1u);
  return explanations.empty() ? Explanation{} : explanations.front();
}

TEST(Faults, AKillBetweenACommitAndWhoMissedItIsNamed) {
  const Explanation e = explained({{4'360'000'000, R"({"event":"fault","what":"kill","node":1})"}});
  ASSERT_FALSE(e.sentences.empty());
  EXPECT_EQ(e.sentences.back(),
            "Node 1 was killed at 4.360 s, between the two: the commit of a had been acknowledged, "
            "and b did not find it.");
  EXPECT_NE(e.hint.find("write a commit to disk"), std::string::npos) << e.hint;
}

TEST(Faults, OtherFaultsAreToldWithoutBlame) {
  const Explanation e = explained({{4'000'000'000, R"({"event":"fault","what":"pause","node":2})"},
                                   {4'500'000'000, R"({"event":"heal","what":"pause","node":2})"}});
  EXPECT_EQ(e.sentences.back(),
            "Node 2 was paused from 4.000 s to 4.500 s, while these transactions ran.");
  EXPECT_EQ(e.hint.find("write a commit to disk"), std::string::npos) << e.hint;
}

TEST(Faults, WhatCameBeforeOrAfterIsNotTold) {
  const size_t plain = explained({}).sentences.size();
  const std::string kill = R"({"event":"fault","what":"kill","node":1})";
  for (const std::pair<int64_t, std::string>& event :
       {std::pair<int64_t, std::string>{900'000'000, kill},
        {6'000'000'000, kill},
        {Interval::kUnknown, kill},
        {3'000'000'000, R"({"event":"connect","session":1,"backend":7})"},
        {3'000'000'000, R"({"event":"fault"})"}})
    EXPECT_EQ(explained({event}).sentences.size(), plain) << event.first << event.second;
}

TEST(Faults, ManyAreCounted) {
  std::vector<std::pair<int64_t, std::string>> events;
  for (int i = 0; i < 5; ++i)
    events.emplace_back(2'000'000'000 + i, R"({"event":"fault","what":"delay","node":1})");
  EXPECT_EQ(explained(events).sentences.back(),
            "2 more faults came between the first and the last of them.");
}

TEST(ServerNames, AreToldOfTheTransactionsOfAnAnomaly) {
  HistoryBuilder builder;
  for (const char* name : {"a", "b"}) {
    builder.begin_txn({.session = ValueView::of(1), .name = name});
    ASSERT_TRUE(builder.end_txn().ok());
  }
  builder.begin_txn({.session = ValueView::of(1),
                     .name = "d",
                     .start_ts = 3,
                     .commit_ts = 5,
                     .snapshot = "10:20:14"});
  ASSERT_TRUE(builder.end_txn().ok());
  for (const char* json :
       {R"({"event":"logged","txn":"a","xid":"739","position":"0/15"})",
        R"({"event":"logged","txn":"b","position":"revision 7"})",
        R"({"event":"logged","txn":"c","position":"0/99"})", R"({"event":"logged"})"})
    builder.event(Interval::kUnknown, json);
  const auto history = std::move(builder).finish();
  ASSERT_TRUE(history.ok());
  Explanation e;
  e.transactions = {0, 1, 2};
  add_circumstances(*history, e);
  ASSERT_EQ(e.sentences.size(), 1u);
  EXPECT_EQ(
      e.sentences[0],
      "On the server a is transaction 739, logged at 0/15; b is logged at revision 7; d started "
      "at 3, committed at 5, saw snapshot 10:20:14.");
  Explanation other;
  add_circumstances(*history, other);
  EXPECT_TRUE(other.sentences.empty());
}

TEST(ServerNames, TheUsersOwnTransactionsAreNamed) {
  constexpr std::pair<const char*, const char*> kTxns[] = {
      {"a", R"x({"ran":"leave (on-call.sql:7)"})x"},
      {"b", R"x({"ran":"enter"})x"},
      {"c", R"x({"error":"none","ran":"leave (on-call.sql:7)"})x"},
      {"d", ""},
      {"e", "3"}};
  HistoryBuilder builder;
  for (const auto& [name, meta] : kTxns) {
    builder.begin_txn({.session = ValueView::of(1), .name = name, .meta = meta});
    ASSERT_TRUE(builder.end_txn().ok());
  }
  const auto history = std::move(builder).finish();
  ASSERT_TRUE(history.ok());
  Explanation e;
  e.transactions = {0, 1, 2, 3, 4};
  add_circumstances(*history, e);
  EXPECT_EQ(e.sentences, std::vector<std::string>{"a, c ran leave (on-call.sql:7); b ran enter."});
}

}  // namespace
}  // namespace assay::internal
