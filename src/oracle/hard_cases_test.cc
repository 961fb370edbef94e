#include "oracle/hard_cases.h"

#include <gtest/gtest.h>

#include "oracle/oracle.h"

namespace assay::internal::oracle {
namespace {

using enum LevelId;

bool decides(const Draft& draft, LevelId level) {
  const auto h = draft.history();
  EXPECT_TRUE(h.ok());
  std::string why;
  const Outcome outcome = decide(*h, level, &why);
  EXPECT_NE(outcome, Outcome::unknown) << why;
  return outcome == Outcome::satisfied;
}

TEST(HardCases, trianglesViolateTheWeakLevels) {
  Rng rng(1);
  int with = 0;
  for (int i = 0; i < 300; ++i) {
    const Graph graph = random_graph(rng, 3 + static_cast<int>(rng.below(5)), 0.4);
    const Draft draft = triangle_history(graph);
    const bool triangle = has_triangle(graph);
    with += triangle;
    for (const LevelId level : {read_committed, read_atomic, causal}) {
      ASSERT_EQ(decides(draft, level), !triangle) << level_info(level).name << "\n" << draft.text();
    }
  }
  EXPECT_GT(with, 80);
  EXPECT_LT(with, 220);
}

TEST(HardCases, formulasDecideTheStrongLevels) {
  Rng rng(2);
  int satisfied = 0;
  constexpr int kFormulas = 200;
  for (int i = 0; i < kFormulas; ++i) {
    // Sixteen transactions, the most the oracle takes: two variables and four literals.
    const int clauses = rng.chance(0.5) ? 4 : 2;
    const Formula formula = random_formula(rng, 2, clauses, 4 / clauses);
    const Draft draft = cnf_history(formula);
    satisfied += satisfiable(formula);
    for (const LevelId level : {prefix, session_si, session_serializable}) {
      ASSERT_EQ(decides(draft, level), satisfiable(formula)) << level_info(level).name;
    }
    ASSERT_TRUE(decides(draft, causal));
  }
  EXPECT_GT(satisfied, kFormulas / 5);
  EXPECT_LT(satisfied, kFormulas * 4 / 5);
}

TEST(HardCases, stalenessTurnsPolygraphsFromSatisfiedToViolated) {
  const auto share = [](double stale) {
    Rng rng(3);
    int satisfied = 0;
    for (int i = 0; i < 50; ++i) {
      const PolygraphShape shape{
          .sessions = 4, .txns = 10, .keys = 3, .writes = 1, .reads = 2, .stale = stale};
      satisfied += decides(polygraph_history(rng, shape), serializable);
    }
    return satisfied;
  };
  EXPECT_EQ(share(0), 50);
  const int some = share(0.5);
  EXPECT_GT(some, 0);
  EXPECT_LT(some, 50);
  EXPECT_EQ(share(4), 0);
}

}  // namespace
}  // namespace assay::internal::oracle
