#include "explain/faults.h"

#include <gtest/gtest.h>

#include "assay/check.h"
#include "assay/format.h"
#include "explain/explain.h"

namespace assay {
namespace {

// Two commits of one session, of which the second does not see the first; `event` stands in between.
Explanation explained(const std::string& event) {
  const std::string text =
      R"({"session":1,"txn":"a","begin":1000000000,"end":1100000000,"ops":[["w","x",1]]})"
      "\n" +
      event +
      "\n"
      R"({"session":1,"txn":"b","begin":5000000000,"end":5100000000,"ops":[["r","x",null]]})"
      "\n";
  const auto read = read_history_text(text, "file", {});
  EXPECT_TRUE(read.ok()) << read.error().to_string();
  CheckOptions options;
  options.levels = {LevelId::session_serializable};
  const auto explanations = explain(read->history, check(read->history, options));
  EXPECT_EQ(explanations.size(), 1u);
  return explanations.empty() ? Explanation{} : explanations.front();
}

TEST(Faults, AKillBetweenACommitAndWhoMissedItIsNamed) {
  const Explanation e =
      explained(R"({"event":"fault","at":4360000000,"until":4370000000,"what":"kill","node":1})");
  ASSERT_FALSE(e.sentences.empty());
  EXPECT_EQ(e.sentences.back(),
            "Node 1 was killed at 4.360 s, between the two: the commit of a had been acknowledged, "
            "and b did not find it.");
  EXPECT_NE(e.hint.find("write a commit to disk"), std::string::npos) << e.hint;
}

TEST(Faults, OtherFaultsAreToldWithoutBlame) {
  const Explanation e =
      explained(R"({"event":"fault","at":4000000000,"until":4000000000,"what":"pause","node":2})"
                "\n"
                R"({"event":"heal","at":4500000000,"until":4500000000,"what":"pause","node":2})");
  EXPECT_EQ(e.sentences.back(),
            "Node 2 was paused from 4.000 s to 4.500 s, while these transactions ran.");
  EXPECT_EQ(e.hint.find("write a commit to disk"), std::string::npos) << e.hint;
}

TEST(Faults, WhatCameBeforeOrAfterIsNotTold) {
  const size_t plain = explained(R"({"event":"note"})").sentences.size();
  for (const char* event : {R"({"event":"fault","at":900000000,"what":"kill","node":1})",
                            R"({"event":"fault","at":6000000000,"what":"kill","node":1})",
                            R"({"event":"connect","at":3000000000,"session":1,"backend":7})",
                            R"({"event":"fault","at":3000000000})"})
    EXPECT_EQ(explained(event).sentences.size(), plain) << event;
}

TEST(Faults, ManyAreCounted) {
  std::string events;
  for (int i = 0; i < 5; ++i)
    events += R"({"event":"fault","at":)" + std::to_string(2000000000 + i) +
              R"(,"what":"delay","node":1})" + (i < 4 ? "\n" : "");
  EXPECT_EQ(explained(events).sentences.back(),
            "2 more faults came between the first and the last of them.");
}

}  // namespace
}  // namespace assay
