// The part of a history satisfies every level that the whole satisfies (history/projection.h).
#include "history/projection.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "assay/format.h"
#include "cases.h"
#include "oracle/oracle.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

History hist(const std::string& text) {
  Result<ReadResult> read = read_history_text(text, "test", {.from = "hist"});
  EXPECT_TRUE(read.ok());
  return std::move(read->history);
}

// What is left of the history without these operations.
std::string without(const std::string& text, std::initializer_list<OpId> dropped) {
  const History whole = hist(text);
  std::vector<bool> keep(whole.op_count(), true);
  for (const OpId op : dropped) keep[op] = false;
  std::string out;
  const Result<History> part = project(whole, keep);
  EXPECT_TRUE(part.ok() && write_history_text(*part, "hist", out).ok());
  return out;
}

TEST(Projection, ReadsGoWithEveryWriteThatMayExplainThem) {
  EXPECT_EQ(without("a: { w(x,1) }\nb: { r(x,1) w(y,2) }\n", {0}), "b: { w(y,2) }\n");
  EXPECT_EQ(without("a: { w(x,1) }\nb: { w(x,1) }\nc: { r(x,1) r(y,null) }\n", {1}),
            "a: { w(x,1) }\nc: { r(y,null) }\n");
  EXPECT_EQ(without("a: { w(x,1) w(x,2) }\nb: { w(x,3) }!\nc: { r(x,1) r(x,3) r(x,2) }\n", {0, 2}),
            "a: { w(x,2) }\nc: { r(x,2) }\n");
  EXPECT_EQ(without("a: { r(x,7) w(y,1) }\n", {1}), "a: { r(x,7) }\n");         // nobody wrote it
  EXPECT_EQ(without("a: { r(x,1) w(x,1) w(y,1) }\n", {1}), "a: { w(y,1) }\n");  // not yet written
  EXPECT_EQ(without("a: { w(x,1) r(x,1) w(y,1) }\n", {0}), "a: { w(y,1) }\n");
}

TEST(Projection, NullIsReadAfterAnyDelete) {
  const std::string text = "a: { w(x,1) }\nb: { d(x,t) }\nc: { r(x,null) w(y,1) }\n";
  EXPECT_EQ(without(text, {1}), "a: { w(x,1) }\nc: { w(y,1) }\n");
  EXPECT_EQ(without(text, {0}), "b: { d(x,t) }\nc: { r(x,null) w(y,1) }\n");
  EXPECT_EQ(without(text, {0, 1}), "c: { r(x,null) w(y,1) }\n");
}

TEST(Projection, ConditionalWritesLoseTheirConditionOrGo) {
  const std::string text =
      "a: { w(x,1) }\nb: { cas(x,1,2) }\nc: { ins(x,3)! }\nd: { cas(x,5,6)! w(y,1) }\n";
  EXPECT_EQ(without(text, {0}), "b: { w(x,2) }\nd: { w(y,1) }\n");
  EXPECT_EQ(without(text, {}), text);
  EXPECT_EQ(without("a: { d(x,t) }\nb: { ins(x,1) }\n", {0}), "b: { ins(x,1) }\n");
  EXPECT_EQ(without("a: { d(x,t) }\nb: { ins(x,1) }\nc: { w(x,2) }\n", {0}),
            "b: { w(x,1) }\nc: { w(x,2) }\n");
  // The insert that failed has a witness left, yet that need not be what it met.
  EXPECT_EQ(without("a: { w(x,1) }\nb: { r(y,null) ins(x,9)! }\nc: { w(y,1) } { w(x,2) }\n", {0}),
            "b: { r(y,null) }\nc: { w(y,1) } { w(x,2) }\n");
}

TEST(Projection, ListsLoseElements) {
  const std::string text = "a: { a(l,1) a(l,2) }\nb: { a(l,3) r(l,[1,2,3]) }\n";
  EXPECT_EQ(without(text, {0}), "a: { a(l,2) }\nb: { a(l,3) r(l,[2,3]) }\n");
  EXPECT_EQ(without(text, {0, 1, 2}), "b: { r(l,[]) }\n");
  // It would be read from a, of which c saw nothing else at read committed.
  EXPECT_EQ(without("a: { a(l,1) }\nb: { a(l,2) }\nc: { r(l,[1,2]) w(y,1) }\n", {1}),
            "a: { a(l,1) }\nc: { w(y,1) }\n");
  EXPECT_EQ(without("a: { a(l,1) }\nb: { a(l,1) }\nc: { r(l,[1]) w(y,1) }\n", {0}),
            "b: { a(l,1) }\nc: { w(y,1) }\n");
}

TEST(Projection, RangesShrinkToWhatIsLeft) {
  const std::string text =
      "a: { w(k1,1) w(k2,2) w(k3,3) } { d(k2,t) } { w(k2,4) }\n"
      "b: { range(k0..k9,[k1=1,k2=4,k3=3]) }\n";
  // k2 may be absent now, or hold 2: neither was seen.
  EXPECT_EQ(without(text, {4}),
            "a: { w(k1,1) w(k2,2) w(k3,3) } { d(k2,t) }\nb: { range(k0..k1,[k1=1]) }\n");
  // Nobody writes k2 any more.
  EXPECT_EQ(without(text, {1, 3, 4}), "a: { w(k1,1) w(k3,3) }\nb: { range(k0..k9,[k1=1,k3=3]) }\n");
  // A key that was found absent may be so because of the delete that is gone.
  EXPECT_EQ(without("a: { w(k1,1) } { d(k1,t) }\nb: { range(k0..k9,[]) w(k5,1) }\n", {1}),
            "a: { w(k1,1) }\nb: { range(k5..k9,[]) w(k5,1) }\n");
}

// A row that never could satisfy the condition was not looked at, whoever wrote it.
TEST(Projection, ConditionsDoNotNeedTheWritersOfWhatNeverSatisfiesThem) {
  const std::string text =
      "a: { w(k1,1) w(k2,20) w(k3,3) }\nb: { w(k2,30) }\nc: { p(k0..k9: value < 9,[k1=1,k3=3]) }\n";
  EXPECT_EQ(without(text, {3}),
            "a: { w(k1,1) w(k2,20) w(k3,3) }\nc: { p(k0..k9: value < 9,[k1=1,k3=3]) }\n");
  // But of one that once did, another version was there.
  EXPECT_EQ(
      without("a: { w(k1,1) w(k2,2) }\nb: { w(k2,30) }\nc: { p(k0..k9: value < 9,[k1=1]) }\n", {2}),
      "a: { w(k1,1) w(k2,2) }\nc: { p(k0..k1: value < 9,[k1=1]) }\n");
}

TEST(Projection, StatedOrdersKeepVersionsThatAreLeft) {
  const std::string text = "a: { w(x,1) }\nb: { w(x,2) }\nc: { w(x,3) }\nd: { w(x,3) }\n";
  EXPECT_EQ(without(text + "order x: 1 2 3\n", {0}),
            "b: { w(x,2) }\nc: { w(x,3) }\nd: { w(x,3) }\norder x: 2 3\n");
  // Once two wrote it, and the entry said nothing.
  EXPECT_EQ(without(text + "order x: 1 2 3\n", {2}),
            "a: { w(x,1) }\nb: { w(x,2) }\nd: { w(x,3) }\norder x: 1 2\n");
}

// The theorem, for every kind of operation, every level, and parts of all sizes.
TEST(Projection, WhatTheWholeSatisfiesThePartSatisfies) {
  const RandomShape shapes[] = {
      {},
      {.duplicates = 1},
      {.duplicates = 0.2, .lists = 1},
      {.duplicates = 0.2, .rich = 1},
      {.duplicates = 0.2, .rich = 1, .predicates = 0.6, .ordered = 0.3},
      {.max_txns = 9, .max_keys = 2, .timed = 1, .rich = 0.5, .single_op = 1},
      {.rich = 0.5, .ordered = 1},
      {.duplicates = 0.2, .lists = 0.4, .rich = 0.5, .loose = 1},
      {.duplicates = 0.7, .lists = 0.2, .rich = 0.5, .loose = 1, .named = 0.9, .complete = 0.4},
      {.duplicates = 0.8, .rich = 0.4, .sourced = 1},
      {.duplicates = 0.2, .rich = 0.7, .predicates = 0.5, .aggregates = 0.3, .own_initial = 1},
  };
  Rng rng(rotated(51));
  uint64_t satisfied = 0, kept = 0;
  const uint64_t cases = histories(6'000);
  for (uint64_t i = 0; i < cases; ++i) {
    const Draft draft = random_draft(rng, shapes[i % std::size(shapes)]);
    const Result<History> whole = draft.history();
    if (!whole.ok() || whole->op_count() == 0) continue;
    const auto before = oracle::decide_all(*whole, all_levels());
    for (int parts = 0; parts < 3; ++parts) {
      std::vector<bool> keep(whole->op_count(), true);
      const double gone = rng.unit();
      const bool whole_txns = rng.chance(0.5);
      for (TxnId t = 0; t < whole->txn_count(); ++t) {
        const bool goes = rng.chance(gone);
        for (OpId op = whole->first_op(t); op < whole->end_op(t); ++op)
          keep[op] = !(whole_txns ? goes : rng.chance(gone));
      }
      const Result<History> part = project(*whole, keep);
      ASSERT_TRUE(part.ok()) << part.error().to_string();
      const auto after = oracle::decide_all(*part, all_levels());
      for (const LevelInfo& level : all_levels()) {
        const auto at = static_cast<size_t>(level.id);
        if (before[at] != Outcome::satisfied) continue;
        ++satisfied;
        kept += after[at] == Outcome::satisfied;
        if (after[at] != Outcome::violated) continue;
        std::string text;
        ASSERT_TRUE(write_history_text(*part, "hist", text).ok());
        FAIL() << level.name << "\n" << draft.text() << "\npart:\n" << text;
      }
    }
  }
  EXPECT_GT(kept, satisfied * 9 / 10);
  EXPECT_GT(satisfied, cases);
}

}  // namespace
}  // namespace assay::internal
