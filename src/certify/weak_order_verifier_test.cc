#include "certify/weak_order_verifier.h"

#include <gtest/gtest.h>

#include <numeric>

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

constexpr uint32_t kTxns = 700;  // several blocks

// Each transaction in a session of its own reads what the one before wrote. The last one reads also
// x, which the first one and transaction `second` wrote, from the first one.
std::string chain(uint32_t second) {
  std::string text;
  for (uint32_t i = 0; i < kTxns; ++i) {
    text += "s" + std::to_string(i) + ": {";
    if (i > 0) text += " r(k" + std::to_string(i - 1) + "," + std::to_string(i) + ")";
    if (i + 1 == kTxns) text += " r(x,1)";
    if (i == 0) text += " w(x,1)";
    if (i == second) text += " w(x,2)";
    text += " w(k" + std::to_string(i) + "," + std::to_string(i + 1) + ") }\n";
  }
  return text + "other: { w(y,1) }\n";
}

TEST(SeenWriters, WhatWasSeenThroughManyOthersCounts) {
  std::vector<uint32_t> order(kTxns + 1);
  std::iota(order.begin(), order.end(), 0u);
  EXPECT_TRUE(verifies(single_order("causal", order), hist(chain(kTxns))));
  for (const uint32_t second : {1u, 255u, 256u, kTxns - 2})
    EXPECT_TRUE(refused(single_order("causal", order), hist(chain(second)), "saw transaction"));
}

TEST(SeenWriters, WhoeverWasNotSeenMayStandInBetween) {
  const std::string text =
      "s1: { w(x,1) }\ns2: { w(x,2) }\ns3: { r(x,1) w(y,1) }\ns4: { r(y,1) r(x,2) }\n";
  EXPECT_TRUE(verifies(single_order("causal", {0, 1, 2, 3}), hist(text)));
  EXPECT_TRUE(refused(single_order("causal", {1, 0, 2, 3}), hist(text), "saw transaction"));
}

// Whether program order serves a level that is these words alone.
bool serves(SeenBy seen, std::string_view text) {
  const History h = hist(text);
  std::vector<TxnId> order(h.txn_count());
  std::iota(order.begin(), order.end(), TxnId{0});
  const Result<CommitOrder> commits = CommitOrder::build(Writes(h), order);
  EXPECT_TRUE(commits.ok());
  LevelInfo level = level_info(LevelId::read_your_writes);
  level.seen = seen;
  return commit_order_serves(level, h, *commits).ok();
}

TEST(WeakOrder, ALevelIsTheWordsOfItsRow) {
  struct Case {
    std::string_view word, text;  // C, or the last, has seen B by this word, and reads x from A
  };
  for (const Case& c : std::vector<Case>{
           {"s", "s1: A { w(x,1) }\ns2: B { w(x,2) } C { r(x,1) }\n"},
           {"r", "s1: A { w(x,1) }\ns2: B { w(x,2) w(y,1) }\ns3: C { r(y,1) r(x,1) }\n"},
           {"rs", "s1: A { w(x,1) }\ns2: B { w(x,2) w(y,1) }\ns3: { r(y,1) } { r(x,1) }\n"},
           {"sr", "s1: A { w(x,1) }\ns2: B { w(x,2) } { w(y,1) }\ns3: { r(y,1) r(x,1) }\n"},
           {"rr",
            "s1: A { w(x,1) }\ns2: B { w(x,2) w(y,1) }\ns3: { r(y,1) w(z,1) }\n"
            "s4: { r(z,1) r(x,1) }\n"},
           {"rsr",
            "s1: A { w(x,1) }\ns2: B { w(x,2) w(y,1) }\ns3: { r(y,1) } { w(z,1) }\n"
            "s4: { r(z,1) r(x,1) }\n"}}) {
    for (const std::string_view word : {"s", "r", "rs", "sr", "rr", "rsr"})
      EXPECT_EQ(serves({.words = {word}}, c.text), word != c.word) << word << " of " << c.word;
    EXPECT_FALSE(serves({.words = {"s", "r"}, .repeated = true}, c.text)) << c.word;
    EXPECT_FALSE(serves({.words = {"rrr", c.word}}, c.text));
  }
  EXPECT_FALSE(serves({.words = {"srs"}}, "s1: A { w(x,1) }\n"));  // no word that it knows
}

}  // namespace
}  // namespace assay::internal::certify
