#include "explain/cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "explain/conclusion.h"
#include "levels/proof_hints.h"

namespace assay::internal {
namespace {

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
  for (const Literal& l : n.forced) known.insert(l);
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
