#include "certify/predicate_reads.h"

#include <gtest/gtest.h>

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

constexpr OpId kQuery = 3;  // behind the writes of A, B and C
constexpr TxnId A = 0, B = 1, C = 2;

// Of whom a query certainly depends that saw the last version of x; kNone if of nobody.
TxnId depends(std::string_view condition, std::string_view orders, std::string_view last = "3") {
  const History h = hist("s1: A { w(x,10) }\ns2: B { w(x,20) }\ns3: C { w(x," + std::string(last) +
                         ") }\ns4: D { p(" + std::string(condition) +
                         ",[],passed[x=" + std::string(last) + "]) }\n" + std::string(orders));
  const Lookups lookups(h);
  PredicateReads reads(lookups);
  TxnId found = kNone;
  for (const TxnId t : {A, B, C})
    if (reads.depends(kQuery, key(h, "x"), C, t)) {
      EXPECT_EQ(found, kNone);
      found = t;
    }
  return found;
}

TEST(PredicateReads, TheLastChangeOfTheMatchCounts) {
  EXPECT_EQ(depends("value > 30", "order x: 10 20 3\n"), kNone);
  EXPECT_EQ(depends("value > 15", "order x: 10 20 3\n"), C);
  EXPECT_EQ(depends("value > 15", "order x: 20 10 3\n"), A);
  EXPECT_EQ(depends("value < 15 and value > 5", "order x: 10 20 3\n"), B);
}

TEST(PredicateReads, ItIsCertainOnlyWhereTheOrderIsOrNothingElseMatchesAlike) {
  EXPECT_EQ(depends("value > 15", "order x: 20 3\n"), kNone);
  EXPECT_EQ(depends("value > 15", ""), kNone);
  EXPECT_EQ(depends("value >= 10", ""), kNone);  // the initial null does not match either
}

}  // namespace
}  // namespace assay::internal::certify
