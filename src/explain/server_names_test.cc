#include "explain/server_names.h"

#include <gtest/gtest.h>

namespace assay::internal {
namespace {

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
  tell_server_names(*history, e);
  ASSERT_EQ(e.sentences.size(), 1u);
  EXPECT_EQ(
      e.sentences[0],
      "On the server a is transaction 739, logged at 0/15; b is logged at revision 7; d started "
      "at 3, committed at 5, saw snapshot 10:20:14.");
  Explanation other;
  tell_server_names(*history, other);
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
  tell_own_names(*history, e);
  EXPECT_EQ(e.sentences, std::vector<std::string>{"a, c ran leave (on-call.sql:7); b ran enter."});
}

}  // namespace
}  // namespace assay::internal
