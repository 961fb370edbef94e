#include "infer/narrow_sources.h"

#include <gtest/gtest.h>

#include "history/test_history.h"
#include "infer/test_open_reads.h"

namespace assay::internal {
namespace {

using namespace sample;

struct Narrowed {
  std::optional<Problem> narrowed;
  std::vector<TxnId> before, after;  // the sources of the first open read
};

Narrowed narrow(const History& h, LevelId level = LevelId::session_serializable,
                uint32_t reach = kNone) {
  Budget unlimited;
  const Problem problem = problem_with_open_reads(h);
  const auto sources = [](const Problem& p) {
    const std::span<const TxnId> all = p.open->all().at(0).sources;
    return std::vector<TxnId>(all.begin(), all.end());
  };
  Narrowed found{
      narrow_sources(problem, level_info(level), reach, {}, unlimited), sources(problem), {}};
  if (found.narrowed) found.after = sources(*found.narrowed);
  return found;
}

// 0: A  1: B  2: C  3: D, whose x = 1 is A's or C's.
const std::vector<Txn> kOverwritten = {{1, {w("x", 1), w("y", 1)}},
                                       {2, {r("y", 1), w("x", 2), w("z", 1)}},
                                       {3, {w("x", 1)}},
                                       {4, {r("z", 1), r("x", 1)}}};

TEST(NarrowSources, WhoWasOverwrittenBeforeIsNoSource) {
  const Narrowed found = narrow(make_history(kOverwritten));
  EXPECT_EQ(found.before, (std::vector<TxnId>{0, 2}));
  ASSERT_TRUE(found.narrowed);
  EXPECT_EQ(found.after, (std::vector<TxnId>{2}));
  // What is settled is a fact of the relation.
  const Problem& problem = *found.narrowed;
  EXPECT_EQ(problem.assumed.size(), 1u);
  ASSERT_EQ(problem.reads[3].size(), 2u);
  EXPECT_EQ(problem.writes.node[problem.reads[3][1].write], 2u);
}

TEST(NarrowSources, NorIsWhoComesLater) {
  const Narrowed found = narrow(
      make_history({{1, {w("x", 1)}}, {2, {r("x", 1), w("y", 1)}}, {3, {r("y", 1), w("x", 1)}}}));
  EXPECT_EQ(found.before, (std::vector<TxnId>{0, 2}));
  EXPECT_EQ(found.after, (std::vector<TxnId>{0}));
}

TEST(NarrowSources, NorTheInitialStateBehindAWriter) {
  const Narrowed found = narrow(make_history(
      {{1, {w("x", 1), w("y", 1)}}, {2, {w("x", kNull)}}, {3, {r("y", 1), r("x", kNull)}}}));
  EXPECT_EQ(found.before, (std::vector<TxnId>{1, kNone}));
  EXPECT_EQ(found.after, (std::vector<TxnId>{1}));
}

TEST(NarrowSources, WithoutSessionOrderOrNewsThereIsNothing) {
  EXPECT_FALSE(narrow(make_history(kOverwritten), LevelId::serializable).narrowed);
  const Narrowed open =
      narrow(make_history({{1, {w("x", 1)}}, {2, {w("x", 1)}}, {3, {r("x", 1)}}}));
  EXPECT_EQ(open.before.size(), 2u);
  EXPECT_FALSE(open.narrowed);
}

// A is the last that certainly wrote x before C read it: nothing speaks against A.
TEST(NarrowSources, TheLastWriterBeforeIsASource) {
  const Narrowed found = narrow(
      make_history({{1, {w("x", 1), w("y", 1)}}, {2, {w("x", 1)}}, {3, {r("y", 1), r("x", 1)}}}));
  EXPECT_EQ(found.before, (std::vector<TxnId>{0, 1}));
  EXPECT_FALSE(found.narrowed);
}

TEST(NarrowSources, ContradictionsAreForOthers) {
  // D read z from B behind A, and E's write of x = 3 behind both; nobody left x = 1 then.
  const Narrowed found = narrow(make_history({{1, {w("x", 1), w("y", 1)}},
                                              {2, {w("x", 1), w("v", 1)}},
                                              {3, {r("y", 1), r("v", 1), w("x", 3), w("z", 1)}},
                                              {4, {r("z", 1), r("x", 1)}}}));
  EXPECT_EQ(found.before, (std::vector<TxnId>{0, 1}));
  EXPECT_FALSE(found.narrowed);
}

TEST(NarrowSources, FarOnesAreLeftOutWhereManyWrote) {
  std::vector<Txn> txns;
  for (int64_t i = 0; i < 60; ++i) txns.push_back({i % 3, {w("x", i % 4)}});
  txns.push_back({3, {r("x", 1)}});
  const Narrowed all = narrow(make_history(txns));
  EXPECT_EQ(all.before.size(), 15u);
  const Narrowed near = narrow(make_history(txns), LevelId::session_serializable, 20);
  EXPECT_EQ(near.after, (std::vector<TxnId>{41, 45, 49, 53, 57}));
}

}  // namespace
}  // namespace assay::internal
