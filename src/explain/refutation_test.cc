#include "explain/refutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "levels/proof_hints.h"

namespace assay::internal {
namespace {

Edge read_from(TxnId from, TxnId to, KeyId key = 0) { return Edge::read_dependency(from, to, key); }

Edge order(TxnId from, TxnId to, KeyId key = 0) { return Edge::write_dependency(from, to, key); }

Edge anti_dependency(TxnId from, TxnId to, TxnId via, KeyId key = 0) {
  return Edge::anti_dependency(from, to, key, via);
}

ProofStep cycle(std::vector<Edge> edges) {
  ProofStep s;
  s.cycle = std::move(edges);
  return s;
}

ProofStep derived(std::vector<Literal> clause, std::vector<uint32_t> hints) {
  ProofStep s;
  s.kind = ProofStep::Kind::derived;
  s.clause = std::move(clause);
  s.hints = std::move(hints);
  return s;
}

TEST(Conclusion, ACycleWithoutAssumptionsIsTheConclusion) {
  const Proof proof{{cycle({read_from(0, 1), read_from(1, 0, 1)})}};
  const Conclusion c = conclude(proof);
  EXPECT_EQ(c.cycle.size(), 2u);
  EXPECT_TRUE(c.forced.empty());
  EXPECT_FALSE(c.case_split);
}

// 1 and 2 both read what 0 wrote and overwrite it: 0 before each because they read it; then either
// order of 1 and 2 closes a cycle.
TEST(Conclusion, OrdersAreForcedOneAfterTheOther) {
  const Proof proof{{
      cycle({order(1, 0), read_from(0, 1)}),
      cycle({order(2, 0), read_from(0, 2)}),
      cycle({order(1, 2), anti_dependency(2, 1, 0)}),
      cycle({order(2, 1), anti_dependency(1, 2, 0)}),
      derived({}, {0, 1, 2, 3}),
  }};
  const Conclusion c = conclude(proof);
  EXPECT_FALSE(c.case_split);
  ASSERT_EQ(c.cycle.size(), 2u);
  ASSERT_EQ(c.forced.size(), 3u);
  // Each forced order comes with the step that refutes the other one.
  for (const Forced& f : c.forced) {
    const Literal other{f.literal.to, f.literal.from};
    const auto assumed = assumptions(proof.steps[f.step]);
    EXPECT_NE(std::find(assumed.begin(), assumed.end(), other), assumed.end());
  }
}

TEST(Conclusion, TheCheaperOfTwoContradictionsWins) {
  const Proof proof{{
      cycle({read_from(0, 1), read_from(1, 2), read_from(2, 3), read_from(3, 0)}),
      cycle({read_from(4, 5), read_from(5, 4, 1)}),
  }};
  EXPECT_EQ(conclude(proof).cycle.front().from, 4u);
}

TEST(Conclusion, FactsCount) {
  ProofStep fact;
  fact.kind = ProofStep::Kind::fact;
  fact.clause = {{0, 1}};
  const Proof proof{{fact, cycle({order(0, 1), read_from(1, 0, 1)}), derived({}, {0, 1})}};
  const Conclusion c = conclude(proof);
  EXPECT_FALSE(c.case_split);
  ASSERT_EQ(c.forced.size(), 1u);
  EXPECT_EQ(c.forced[0].step, 0u);
}

// Four cycles over two pairs: no assumption is forced by a cycle alone.
TEST(Conclusion, TheOtherEndIsAsTrue) {
  const Proof proof{{
      cycle({order(0, 1), read_from(1, 2), read_from(2, 0, 1)}),
      cycle({order(1, 0), read_from(0, 1, 1)}),
      derived({}, {0, 1}),
  }};
  const Conclusion c = conclude(proof);
  const Conclusion other = other_end(c, proof);
  ASSERT_EQ(c.forced.size(), 1u);
  ASSERT_EQ(other.forced.size(), 1u);
  EXPECT_EQ(other.forced[0].literal, (Literal{c.forced[0].literal.to, c.forced[0].literal.from}));
  EXPECT_EQ(other.forced[0].step, c.step);
  EXPECT_EQ(other.step, c.forced[0].step);
  EXPECT_NE(other.cycle.size(), c.cycle.size());
}

TEST(Conclusion, ACaseSplitIsSaid) {
  const auto both = [](TxnId a, TxnId b, TxnId c, TxnId d) {
    return cycle({order(a, b), read_from(b, c, 7), order(c, d, 1), read_from(d, a, 8)});
  };
  const Proof proof{{
      both(0, 1, 2, 3),
      both(0, 1, 3, 2),
      both(1, 0, 2, 3),
      both(1, 0, 3, 2),
      derived({{1, 0}}, {0, 1}),
      derived({}, {4, 2, 3}),
  }};
  const Conclusion c = conclude(proof);
  EXPECT_TRUE(c.case_split);
  EXPECT_EQ(c.cycle.size(), 4u);
  EXPECT_TRUE(c.forced.empty());
  const auto tree = case_tree(proof);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->cases, 2u);
}

TEST(Conclusion, AnEmptyProofIsNoReasonToFail) {
  const Conclusion c = conclude(Proof{});
  EXPECT_TRUE(c.cycle.empty());
  EXPECT_TRUE(c.case_split);
}

// A cycle that these orders of writers would close.
ProofStep closed_by(const std::vector<Literal>& orders) {
  ProofStep s;
  for (const Literal& l : orders) {
    Edge e;
    e.kind = EdgeKind::write_dependency;
    e.from = l.from;
    e.to = l.to;
    s.cycle.push_back(e);
  }
  return s;
}

const Literal kA = Literal::order(0, 1), kB = Literal::order(2, 3), kC = Literal::order(4, 5);

// What every case assumes, supposed or forced, with what the proof's step needs.
void expect_every_leaf_contradicts(const CaseTree& tree, const Proof& proof, uint32_t node = 0,
                                   std::set<Literal> known = {}) {
  const CaseNode& n = tree.nodes[node];
  if (node > 0) known.insert(n.supposed);
  for (const Forced& f : n.forced) known.insert(f.literal);
  if (n.contradicts != kNone) {
    for (const Literal& l : assumptions(proof.steps[n.contradicts])) EXPECT_TRUE(known.contains(l));
    return;
  }
  EXPECT_EQ(tree.nodes[n.first].supposed, !tree.nodes[n.second].supposed);
  expect_every_leaf_contradicts(tree, proof, n.first, known);
  expect_every_leaf_contradicts(tree, proof, n.second, known);
}

TEST(Cases, TwoWays) {
  // Either order of 0 and 1 forces that of 2 and 3, and both of these close a cycle with it.
  const Proof proof{
      {closed_by({kA, kB}), closed_by({kA, !kB}), closed_by({!kA, kB}), closed_by({!kA, !kB})}};
  const auto tree = case_tree(proof);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->cases, 2u);
  EXPECT_EQ(tree->nodes.size(), 3u);
  EXPECT_EQ(tree->nodes[1].forced.size(), 1u);
  expect_every_leaf_contradicts(*tree, proof);
}

TEST(Cases, FourWays) {
  Proof proof;
  for (int i = 0; i < 8; ++i)
    proof.steps.push_back(closed_by({i & 1 ? kA : !kA, i & 2 ? kB : !kB, i & 4 ? kC : !kC}));
  const auto tree = case_tree(proof);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->cases, 4u);
  expect_every_leaf_contradicts(*tree, proof);
}

// Each step forces the next order: no cases.
TEST(Cases, AChainIsNoTree) {
  const Proof proof{{closed_by({kA}), closed_by({!kA, kB}), closed_by({!kA, !kB})}};
  EXPECT_FALSE(case_tree(proof));
}

// Nothing closes every case, or too much would have to be tried.
TEST(Cases, WhereTheLimitIsReachedTheTreeIsEmpty) {
  const auto tree = case_tree(Proof{{closed_by({kA, kB})}});
  ASSERT_TRUE(tree);
  EXPECT_TRUE(tree->nodes.empty());
  EXPECT_EQ(tree->cases, 0u);
}

}  // namespace
}  // namespace assay::internal
