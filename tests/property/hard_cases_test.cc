// Histories too large for the oracle, whose verdicts are known by construction.
#include "oracle/hard_cases.h"

#include <gtest/gtest.h>

#include "cases.h"
#include "checked.h"

namespace assay::internal {
namespace {

using enum LevelId;

oracle::Verdicts checked_draft(const Draft& draft) {
  const auto h = draft.history();
  EXPECT_TRUE(h.ok());
  std::string complaint;
  const oracle::Verdicts verdicts = checked(*h, &complaint);
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(oracle::broken_lattice(verdicts), "");
  return verdicts;
}

std::string_view said(const oracle::Verdicts& verdicts, LevelId level) {
  return outcome_name(verdicts[static_cast<size_t>(level)]);
}

TEST(HardCases, triangles) {
  Rng rng(rotated(1));
  for (int i = 0; i < 60; ++i) {
    const oracle::Graph graph = oracle::random_graph(rng, 30, 0.07);
    const oracle::Verdicts verdicts = checked_draft(oracle::triangle_history(graph));
    for (const LevelId level : {read_committed, read_atomic, causal}) {
      EXPECT_EQ(said(verdicts, level), oracle::has_triangle(graph) ? "violated" : "satisfied");
    }
  }
}

// Three literals a clause and 4.3 clauses a variable: half of the formulas can be satisfied.
TEST(HardCases, formulas) {
  Rng rng(rotated(2));
  int satisfied = 0;
  constexpr int kFormulas = 30;
  for (int i = 0; i < kFormulas; ++i) {
    const oracle::Formula formula = oracle::random_formula(rng, 7, 30, 3);
    const bool can = oracle::satisfiable(formula);
    satisfied += can;
    const oracle::Verdicts verdicts = checked_draft(oracle::cnf_history(formula));
    for (const LevelId level : {prefix, session_si, session_serializable}) {
      EXPECT_EQ(said(verdicts, level), can ? "satisfied" : "violated");
    }
    EXPECT_EQ(said(verdicts, causal), "satisfied");
  }
  EXPECT_GT(satisfied, 0);
  EXPECT_LT(satisfied, kFormulas);
}

TEST(HardCases, polygraphs) {
  Rng rng(rotated(3));
  int satisfied = 0;
  constexpr int kHistories = 40;
  for (int i = 0; i < kHistories; ++i) {
    const double stale = 0.3 * i / kHistories;
    const Draft draft =
        oracle::polygraph_history(rng, {.txns = 60, .keys = 12, .writes = 1, .stale = stale});
    const oracle::Verdicts verdicts = checked_draft(draft);
    EXPECT_NE(said(verdicts, serializable), "unknown");
    satisfied += said(verdicts, serializable) == "satisfied";
  }
  EXPECT_GT(satisfied, 0);
  EXPECT_LT(satisfied, kHistories);
}

}  // namespace
}  // namespace assay::internal
