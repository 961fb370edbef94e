#include "certify/operations.h"

#include <gtest/gtest.h>

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

// Operation 0 is A's, 1 is B's; C reads.
History with_reads(std::string_view reads) {
  return hist("s1: A { w(x,1) }\ns2: B { w(x,1) w(x,2) }\ns3: C { " + std::string(reads) + " }\n");
}
constexpr OpId kRead = 3;  // C's first operation

TEST(StatedSources, AreThoseThatCanBeRight) {
  EXPECT_EQ(stated_to_be_from(with_reads("r(x,A=1)"), kRead), 0u);
  EXPECT_EQ(stated_to_be_from(with_reads("r(x,B=1)"), kRead), 1u);
  EXPECT_EQ(stated_to_be_from(with_reads("r(x,null=null)"), kRead), kInitialTxn);
  EXPECT_EQ(stated_to_be_from(with_reads("r(x,1)"), kRead), kNone);
  EXPECT_EQ(stated_to_be_from(with_reads("r(x,A=2)"), kRead), kNone);
  EXPECT_EQ(stated_to_be_from(with_reads("r(x,null=1)"), kRead), kNone);
  EXPECT_EQ(stated_to_be_from(with_reads("r(x,C=1) w(x,1)"), kRead), kNone);
  // What a transaction itself had written is no read from outside.
  EXPECT_EQ(stated_to_be_from(with_reads("w(x,1) r(x,C=1)"), kRead + 1), kNone);
}

TEST(StatedSources, AreOtherwiseContradictions) {
  for (const char* right : {"r(x,A=1)", "r(x,B=1)", "r(x,null=null)", "w(x,1) r(x,C=1)", "r(x,7)"})
    EXPECT_EQ(source_contradiction(with_reads(right)), "") << right;
  for (const char* wrong :
       {"r(x,A=2)", "r(x,null=1)", "r(x,C=1) w(x,1)", "w(x,1) r(x,A=1)", "w(x,1) r(x,null=1)"})
    EXPECT_NE(source_contradiction(with_reads(wrong)), "") << wrong;
  EXPECT_EQ(source_contradiction(hist("s1: A { w(x,1) }\ns2: { r(x,A=2) }!\n")), "");
  EXPECT_TRUE(
      refused(single_order("serializable", {0, 1, 2}), with_reads("r(x,A=2)"), "cannot have read"));
}

TEST(StatedSources, LeftBehindIsTheLastWriteOfWhoeverDidNotAbort) {
  const History h = with_reads("r(x,B=1) r(x,B=2)");
  EXPECT_FALSE(left_behind(h, 1, kRead));
  EXPECT_TRUE(left_behind(h, 1, kRead + 1));
  EXPECT_FALSE(left_behind(hist("s1: A { w(x,1) }!\ns2: { r(x,A=1) }\n"), 0, 1));
  EXPECT_TRUE(left_behind(hist("s1: A { d(x,t) }\ns2: { r(x,A=null) }\n"), 0, 1));
}

TEST(StatedSources, OrdersHoldToThem) {
  const History h = hist("s1: A { w(x,1) }\ns2: B { w(x,1) }\ns3: C { r(x,A=1) }\n");
  EXPECT_TRUE(verifies(single_order("serializable causal", {1, 0, 2}), h));
  EXPECT_TRUE(refused(single_order("pl-2", {1, 0, 2}), h, "nothing says whether the version of x"));
  EXPECT_TRUE(refused(single_order("serializable", {0, 1, 2}), h, "is stated to read x from"));
  EXPECT_TRUE(refused(single_order("pl-3", {0, 1, 2}), h, "overwrote what transaction"));
  EXPECT_TRUE(refused(single_order("pl-2", {1, 2, 0}), h, "is not before it"));
}

TEST(StatedSources, DirtyReadsAreThoseOfTheStatedTransaction) {
  const History aborted = hist("s1: A { w(x,1) }!\ns2: B { w(x,1) }\ns3: C { r(x,A=1) }\n");
  EXPECT_TRUE(verifies(bad_read("serializable", Anomaly::aborted_read, 2, 0), aborted));
  const History other = hist("s1: A { w(x,1) }!\ns2: B { w(x,1) }\ns3: C { r(x,B=1) }\n");
  EXPECT_FALSE(verify(bad_read("serializable", Anomaly::aborted_read, 2, 0), other).ok());
  const History overwritten =
      hist("s1: A { w(x,1) w(x,2) }\ns2: B { w(x,1) }\ns3: C { r(x,A=1) }\n");
  EXPECT_TRUE(verifies(bad_read("serializable", Anomaly::intermediate_read, 3, 0), overwritten));
  const History two = hist("s1: A { w(x,1) }\ns2: B { w(x,1) }\ns3: C { r(x,A=1) r(x,B=1) }\n");
  EXPECT_TRUE(verifies(bad_read("read-atomic", Anomaly::non_repeatable_read, 3, 2), two));
  const History one = hist("s1: A { w(x,1) }\ns2: B { w(x,1) }\ns3: C { r(x,A=1) r(x,1) }\n");
  EXPECT_FALSE(verify(bad_read("read-atomic", Anomaly::non_repeatable_read, 3, 2), one).ok());
}

}  // namespace
}  // namespace assay::internal::certify
