#include "certify/cases_verifier.h"

#include <gtest/gtest.h>

#include "certify/certificate_samples.h"

namespace assay::certify {
namespace {

// Operations: 0 w(x,1)  1 w(y,1) | 2 w(x,1)  3 w(y,2) | 4 r(x,1)  5 r(y,null)
const char* const kHistory =
    "s1: { w(x,1) w(y,1) }\n"
    "s2: { w(x,1) w(y,2) }\n"
    "s3: { r(x,1) r(y,null) }\n";

class Cases : public ::testing::Test {
 protected:
  const History h_ = hist(kHistory);
  const KeyId x_ = key(h_, "x"), y_ = key(h_, "y");

  // Whoever x was read from, y of the same transaction was not seen.
  Case from(TxnId writer) const {
    return proof_given({{4, x_, writer}},
                       {cycle({read_from(writer, 2, x_, 4), anti(2, writer, y_, kNone, 5)})});
  }
};

TEST_F(Cases, EveryWriterIsRefuted) {
  EXPECT_TRUE(verifies(
      by_cases("read-atomic causal session-serializable", {from(0), from(1), split(4, x_, {0, 1})}),
      h_));
}

TEST_F(Cases, NoWriterMayBeLeftOut) {
  EXPECT_TRUE(refused(by_cases("read-atomic", {from(0), split(4, x_, {0})}), h_,
                      "nothing refutes that operation 4 saw what transaction s2-0 left"));
  EXPECT_TRUE(refused(by_cases("read-atomic", {from(0), from(1), split(4, x_, {0, 0})}), h_,
                      "nothing refutes"));
}

TEST_F(Cases, WhatIsGivenMustBeRefutedToo) {
  EXPECT_TRUE(refused(by_cases("read-atomic", {from(0)}), h_, "the last case is given something"));
  Case greedy = from(1);
  greedy.given.push_back({5, y_, kNone});
  EXPECT_TRUE(refused(by_cases("read-atomic", {from(0), greedy, split(4, x_, {0, 1})}), h_,
                      "case 1 needs more than it is given"));
}

TEST_F(Cases, AProofUsesOnlyWhatItIsGiven) {
  Case blind = from(0);
  blind.given.clear();
  EXPECT_TRUE(refused(by_cases("read-atomic", {blind, from(1), split(4, x_, {0, 1})}), h_,
                      "does not certainly read the key"));
  EXPECT_TRUE(refused(by_cases("read-atomic", {from(0), from(1), split(4, x_, {0, 2})}), h_,
                      "rests on a later case"));
}

TEST_F(Cases, ContradictoryOrUnknownGivensAreRefused) {
  Case two = from(0);
  two.given.push_back({4, x_, 1});
  EXPECT_TRUE(refused(by_cases("read-atomic", {two, split(4, x_, {0})}), h_, "contradicts itself"));
  Case nowhere = from(0);
  nowhere.given[0].op = 99;
  EXPECT_TRUE(refused(by_cases("read-atomic", {nowhere, split(4, x_, {0})}), h_,
                      "names nothing in the history"));
}

// A failed compare-and-set that nobody's value explains.
TEST_F(Cases, NoWriterAtAllRefutesByItself) {
  const History h = hist("initial 1\ns1: { w(x,1) }\ns2: { cas(x,1,2)! }\n");
  const Certificate c = by_cases("read-committed", {split(1, key(h, "x"), {})});
  EXPECT_TRUE(verifies(c, h));
  const History other = hist("initial 1\ns1: { w(x,3) }\ns2: { cas(x,1,2)! }\n");
  EXPECT_TRUE(refused(c, other, "nothing refutes"));
}

// The sources of a commit order are what counts, not the last writer before the reader.
TEST_F(Cases, ACommitOrderMayNameItsSources) {
  const History h = hist(
      "s1: { w(x,1) }\n"
      "s2: { w(x,1) w(y,2) }\n"
      "s3: { r(x,1) r(y,null) }\n");
  Certificate c = single_order("read-atomic", {0, 1, 2});
  EXPECT_FALSE(verify(c, h).ok());
  c.order.sources = {{3, key(h, "x"), 0}};
  EXPECT_TRUE(verifies(c, h));
  c.order.sources[0].source = 1;
  EXPECT_FALSE(verify(c, h).ok());
  c.order.sources[0].source = kNone;
  EXPECT_TRUE(refused(c, h, "cannot have its source"));
}

}  // namespace
}  // namespace assay::certify
