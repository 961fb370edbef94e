// For unit tests: what can be checked of a proof without its history. Whether it is true is for the
// verifier, which this room cannot see.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "assay/certificate.h"

namespace assay::internal::sample {

inline bool assumes_nothing(const ProofStep& step) {
  return std::all_of(step.cycle.begin(), step.cycle.end(), [](const Edge& edge) {
    return edge.kind != EdgeKind::write_dependency &&
           (edge.kind != EdgeKind::anti_dependency || edge.via == kNone);
  });
}

inline void expect_cycle(const ProofStep& step) {
  ASSERT_FALSE(step.cycle.empty());
  EXPECT_TRUE(step.clause.empty());
  for (size_t i = 0; i < step.cycle.size(); ++i) {
    const Edge& edge = step.cycle[i];
    EXPECT_EQ(edge.to, step.cycle[(i + 1) % step.cycle.size()].from);
    EXPECT_EQ(edge.path.empty(), edge.kind != EdgeKind::forced);
    for (size_t j = 0; j < edge.path.size(); ++j) {
      EXPECT_EQ(edge.path[j].from, j == 0 ? edge.from : edge.path[j - 1].to);
    }
    if (!edge.path.empty()) {
      EXPECT_EQ(edge.path.back().to, edge.via);
    }
  }
}

// Checks that cycles close, hints point backwards, and the last step leaves nothing.
inline void expect_proof_shape(const Proof& proof) {
  ASSERT_FALSE(proof.steps.empty());
  for (size_t i = 0; i < proof.steps.size(); ++i) {
    const ProofStep& step = proof.steps[i];
    switch (step.kind) {
      case ProofStep::Kind::cycle:
        expect_cycle(step);
        break;
      case ProofStep::Kind::fact:
        EXPECT_EQ(step.clause.size(), 1u);
        EXPECT_NE(step.source, kNone);
        break;
      case ProofStep::Kind::sources:
        EXPECT_NE(step.source, kNone);
        EXPECT_NE(step.key, kNone);
        break;
      case ProofStep::Kind::effect:
        EXPECT_GE(step.clause.size(), 2u);
        break;
      case ProofStep::Kind::blocks:
      case ProofStep::Kind::aggregate:
        EXPECT_NE(step.source, kNone);
        break;
      case ProofStep::Kind::derived:
        EXPECT_FALSE(step.hints.empty());
        for (uint32_t hint : step.hints) EXPECT_LT(hint, i);
        break;
    }
  }
  const ProofStep& last = proof.steps.back();
  EXPECT_TRUE(last.clause.empty());
  EXPECT_TRUE(last.kind == ProofStep::Kind::derived || assumes_nothing(last));
}

}  // namespace assay::internal::sample
