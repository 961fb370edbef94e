#include <gtest/gtest.h>

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

using enum Anomaly;
constexpr std::string_view kAll = "read-committed causal prefix adya-si strong-si serializable";

TEST(BadReadVerifier, overdrawn) {
  const History h = hist(
      "1: { w(x,1) } { w(x,1) }! { w(x,1) }?\n2: { r(x,1) w(x,2) }\n3: { cas(x,1,3) }\n"
      "4: { r(x,1) r(y,null) w(x,4) }\n5: { w(x,5) r(x,5) }\n");
  const OpId cas = 5;
  EXPECT_TRUE(verifies(bad_read("si ser adya-si sser", lost_update, cas, kNone), h));
  EXPECT_TRUE(refused(bad_read("prefix", lost_update, cas, kNone), h, "allows lost updates"));
  EXPECT_TRUE(refused(bad_read("causal", lost_update, cas, kNone), h, "allows lost updates"));
  EXPECT_TRUE(refused(bad_read("si", lost_update, 0, kNone), h, "saw no value"));
  EXPECT_TRUE(refused(bad_read("si", lost_update, 7, kNone), h, "removal leaves null"));
  EXPECT_TRUE(refused(bad_read("si", lost_update, 10, kNone), h, "overwritten by 0"));
  // One more write of the value, and there is one for each.
  const History enough = hist(
      "1: { w(x,1) } { w(x,1) } { w(x,1) }?\n2: { r(x,1) w(x,2) }\n3: { cas(x,1,3) }\n"
      "4: { r(x,1) w(x,4) }\n");
  EXPECT_TRUE(refused(bad_read("si", lost_update, cas, kNone), enough, "was there 3 times"));
  // A write that its transaction overwrites is there for nobody else.
  const History overwritten =
      hist("1: { w(x,1) } { w(x,1) w(x,7) }\n2: { r(x,1) w(x,2) }\n3: { r(x,1) w(x,3) }\n");
  EXPECT_TRUE(verifies(bad_read("si serializable", lost_update, 3, kNone), overwritten));
}

TEST(BadReadVerifier, thinAir) {
  const History h = hist("initial 0\ns1: { r(x,7) r(y,0) } { w(x,8) }! { r(x,8) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, thin_air_read, 0, kNone), h));
  EXPECT_TRUE(refused(bad_read("causal", thin_air_read, 1, kNone), h, "is no thin-air-read"));
  EXPECT_TRUE(refused(bad_read("causal", thin_air_read, 2, kNone), h, "need not"));
  EXPECT_TRUE(refused(bad_read("causal", thin_air_read, 3, kNone), h, "is no thin-air-read"));
  EXPECT_TRUE(refused(bad_read("causal", thin_air_read, 0, 2), h, "is no thin-air-read"));
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 0, 2), h, "is no aborted-read"));
  EXPECT_TRUE(refused(bad_read("causal", thin_air_read, 99, kNone), h, "not an operation"));
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 3, 99), h, "not in the history"));
  EXPECT_TRUE(refused(bad_read("causal", none, 0, kNone), h, "cannot show this"));
  EXPECT_TRUE(refused(bad_read("causal", write_skew, 0, kNone), h, "cannot show this"));
}

TEST(BadReadVerifier, aConditionalWriteWithoutEffectWritesNothing) {
  const History h = hist("s1: { w(x,1) } { cas(x,2,3)! }\ns2: { r(x,3) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, thin_air_read, 2, kNone), h));
  const History effect = hist("s1: { w(x,1) } { cas(x,1,3) }\ns2: { r(x,3) }\n");
  EXPECT_TRUE(refused(bad_read("causal", thin_air_read, 2, kNone), effect, "is no"));
}

TEST(BadReadVerifier, aCompareAndSetReadsBeforeItWrites) {
  const History h = hist("s1: { cas(x,5,5) w(y,1) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, future_read, 0, 0), h));
  EXPECT_TRUE(refused(bad_read("causal", future_read, 0, 1), h, "is no future-read"));
}

TEST(BadReadVerifier, readOfNull) {
  const History removed = hist("initial 0\ns1: { d(x,t) }\ns2: { r(x,null) }\n");
  EXPECT_TRUE(refused(bad_read("causal", thin_air_read, 1, kNone), removed, "is no"));
  EXPECT_TRUE(
      verifies(bad_read(kAll, thin_air_read, 0, kNone), hist("initial 0\ns1: { r(x,null) }\n")));
  // An empty list is no invention, whatever the initial value.
  EXPECT_TRUE(refused(bad_read("causal", thin_air_read, 0, kNone),
                      hist("initial 0\ns1: { r(l,[]) }\n"), "is no"));
  const History aborted = hist("s1: { w(x,1) d(x,t) }!\ns2: { w(x,2) } { r(x,t) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, aborted_read, 3, 1), aborted));
}

TEST(BadReadVerifier, abortedRead) {
  const History h = hist("s1: { w(x,1) }! { w(x,2) }?\ns2: { r(x,1) r(x,2) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, aborted_read, 2, 0), h));
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 3, 1), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 2, 1), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 2, kNone), h, "is no"));
}

TEST(BadReadVerifier, anotherWriterExplainsTheRead) {
  const char* honest[] = {"{ w(x,1) }", "{ w(x,1) }?"};
  for (const std::string writer : honest) {
    EXPECT_TRUE(refused(bad_read("causal", aborted_read, 2, 0),
                        hist("s1: { w(x,1) }!\ns3: " + writer + "\ns2: { r(x,1) }\n"), "is no"));
    EXPECT_TRUE(refused(bad_read("causal", intermediate_read, 3, 0),
                        hist("s1: { w(x,1) w(x,2) }\ns3: " + writer + "\ns2: { r(x,1) }\n"),
                        "is no"));
  }
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 1, 0),
                      hist("initial 1\ns1: { w(x,1) }!\ns2: { r(x,1) }\n"), "is no"));
  EXPECT_TRUE(refused(bad_read("causal", future_read, 0, 1),
                      hist("s1: { r(x,1) w(x,1) }\ns2: { w(x,1) }\n"), "is no"));
  // Its own earlier write explains it, its own later one does not.
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 2, 0),
                      hist("s1: { w(x,1) }!\ns2: { w(x,1) r(x,1) }\n"), "is no"));
  EXPECT_TRUE(verifies(bad_read("causal", aborted_read, 1, 0),
                       hist("s1: { w(x,1) }!\ns2: { r(x,1) w(x,1) }\n")));
  // An intermediate write of another transaction is no explanation.
  EXPECT_TRUE(verifies(bad_read("causal", aborted_read, 3, 0),
                       hist("s1: { w(x,1) }!\ns3: { w(x,1) w(x,2) }\ns2: { r(x,1) }\n")));
}

TEST(BadReadVerifier, intermediateRead) {
  const History h = hist("s1: { w(x,1) w(x,2) }\ns2: { r(x,1) } { r(x,2) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, intermediate_read, 2, 0), h));
  EXPECT_TRUE(refused(bad_read("causal", intermediate_read, 3, 1), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", intermediate_read, 2, 1), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 2, 0), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", thin_air_read, 2, kNone), h, "is no"));
}

TEST(BadReadVerifier, futureRead) {
  const History h = hist("s1: { r(x,1) w(x,1) } { w(x,2) r(x,2) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, future_read, 0, 1), h));
  EXPECT_TRUE(refused(bad_read("causal", future_read, 3, 2), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", future_read, 0, 2), h, "is no"));
}

TEST(BadReadVerifier, ownWrites) {
  const History last = hist("s1: { w(x,1) w(x,2) r(x,1) r(x,2) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, not_my_last_write, 2, 0), last));
  EXPECT_TRUE(verifies(bad_read(kAll, not_my_last_write, 2, 1), last));
  EXPECT_TRUE(refused(bad_read("causal", not_my_last_write, 3, 0), last, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", not_my_own_write, 2, 1), last, "is no"));
  const History own = hist("s1: { w(x,1) r(x,5) }\ns2: { w(x,5) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, not_my_own_write, 1, 0), own));
  EXPECT_TRUE(refused(bad_read("causal", not_my_own_write, 1, 2), own, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", not_my_last_write, 1, 0), own, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", not_my_own_write, 0, 0), own, "is no"));
  // A read before the write, or of another key.
  const History before = hist("s1: { r(x,5) w(x,1) w(y,2) r(z,5) }\ns2: { w(x,5) w(z,5) }\n");
  EXPECT_TRUE(refused(bad_read("causal", not_my_own_write, 0, 1), before, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", not_my_own_write, 3, 2), before, "is no"));
  // After a removal the key reads as null or as the tombstone.
  const History removed = hist("s1: { w(x,1) d(x,t) r(x,null) r(x,t) r(x,1) }\n");
  EXPECT_TRUE(refused(bad_read("causal", not_my_own_write, 2, 1), removed, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", not_my_own_write, 3, 1), removed, "is no"));
  EXPECT_TRUE(verifies(bad_read(kAll, not_my_last_write, 4, 0), removed));
}

TEST(BadReadVerifier, nonRepeatableRead) {
  const History h = hist("s1: { w(x,1) }\ns2: { r(x,null) r(x,1) }\ns3: { r(x,1) r(x,1) }\n");
  EXPECT_TRUE(refused(bad_read("causal", non_repeatable_read, 1, 2), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", non_repeatable_read, 4, 3), h, "is no"));
  const History two =
      hist("s1: { w(x,1) }\ns2: { w(x,2) }\ns3: { r(x,1) r(y,null) r(x,2) w(x,3) r(x,3) }\n");
  EXPECT_TRUE(
      verifies(bad_read("read-atomic causal prefix serializable", non_repeatable_read, 4, 2), two));
  EXPECT_TRUE(refused(bad_read("read-committed", non_repeatable_read, 4, 2), two, "allows"));
  EXPECT_TRUE(refused(bad_read("causal", non_repeatable_read, 2, 4), two, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", non_repeatable_read, 4, 3), two, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", non_repeatable_read, 6, 2), two, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", non_repeatable_read, 4, kNone), two, "is no"));
  // One removed key reads as null and as the tombstone.
  const History removed = hist("s1: { d(x,t) }\ns2: { r(x,null) r(x,t) }\n");
  EXPECT_TRUE(refused(bad_read("causal", non_repeatable_read, 2, 1), removed, "is no"));
}

TEST(BadReadVerifier, nonRepeatableReadOfAnAbsentKey) {
  const History h = hist("s1: { w(x,1) }\ns2: { r(x,null) r(x,1) }\n");
  EXPECT_TRUE(verifies(bad_read("causal", non_repeatable_read, 2, 1), h));
}

TEST(BadReadVerifier, theReaderCounts) {
  const std::string aborted = "s1: { w(x,1) }!\n";
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 1, 0), hist(aborted + "s2: { r(x,1) }!\n"),
                      "need not"));
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 1, 0), hist(aborted + "s2: { r(x,1) }?\n"),
                      "need not"));
  EXPECT_TRUE(
      verifies(bad_read(kAll, aborted_read, 1, 0),
               hist(aborted + "s2: { r(x,1) w(y,1) }?\ns3: { r(y,1) w(z,1) }?\ns4: { r(z,1) }\n")));
  // Not if a second transaction may have written what was read.
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 1, 0),
                      hist(aborted + "s2: { r(x,1) w(y,1) }?\ns3: { r(y,1) }\ns4: { w(y,1) }?\n"),
                      "need not"));
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 1, 0),
                      hist("initial 0\n" + aborted + "s2: { r(x,1) w(y,0) }?\ns3: { r(y,0) }\n"),
                      "need not"));
}

TEST(BadReadVerifier, lists) {
  const History h = hist(
      "s1: { a(l,1) a(l,2) } { a(l,3) }!\n"
      "s2: { r(l,[1]) } { r(l,[1,2,3]) } { r(l,[1,9,2]) } { r(l,[3,1,2]) } { r(l,[1,2]) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, intermediate_read, 3, 0), h));
  EXPECT_TRUE(verifies(bad_read(kAll, aborted_read, 4, 2), h));
  EXPECT_TRUE(verifies(bad_read(kAll, thin_air_read, 5, kNone), h));
  EXPECT_TRUE(verifies(bad_read(kAll, aborted_read, 6, 2), h));
  EXPECT_TRUE(refused(bad_read("causal", intermediate_read, 7, 0), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 7, 2), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", thin_air_read, 6, kNone), h, "is no"));
  const History twice =
      hist("s1: { a(l,1) } { a(l,2) }\ns2: { r(l,[1]) r(l,[1,2]) a(l,3) r(l,[1,2,3]) }\n");
  EXPECT_TRUE(verifies(bad_read("causal", non_repeatable_read, 3, 2), twice));
  EXPECT_TRUE(refused(bad_read("causal", non_repeatable_read, 5, 3), twice, "is no"));
  const History own = hist("s1: { a(l,1) }\ns2: { a(l,2) r(l,[1]) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, not_my_own_write, 2, 1), own));
}

// Operations: 0 a(l,1)  1 a(l,2) | 2 a(l,9) | 3 a(l,5)  4 a(l,5) | 5… what s4 read
TEST(BadReadVerifier, whatOneTransactionAppendedStandsTogether) {
  const History h = hist(
      "s1: { a(l,1) a(l,2) }\n"
      "s2: { a(l,9) }\n"
      "s3: { a(l,5) a(l,5) }\n"
      "s4: { r(l,[1,9,2]) } { r(l,[1,9]) } { r(l,[9,1,2]) } { r(l,[5]) } { r(l,[2,9]) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, intermediate_read, 5, 0), h));
  EXPECT_TRUE(verifies(bad_read(kAll, intermediate_read, 5, 1), h));
  EXPECT_TRUE(verifies(bad_read(kAll, intermediate_read, 6, 0), h));
  EXPECT_TRUE(verifies(bad_read(kAll, intermediate_read, 9, 1), h));
  EXPECT_TRUE(refused(bad_read("causal", intermediate_read, 5, 2), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", intermediate_read, 7, 0), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", intermediate_read, 7, 1), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", intermediate_read, 8, 3), h, "is no"));
  EXPECT_TRUE(refused(bad_read("pl-1", intermediate_read, 5, 0), h, "pl-1 allows"));
  // If two may have appended it, it need not be this one's.
  const History two = hist("s1: { a(l,1) a(l,2) }\ns2: { a(l,1) }\ns3: { r(l,[1]) }\n");
  EXPECT_TRUE(refused(bad_read("causal", intermediate_read, 3, 0), two, "is no"));
}

TEST(BadReadVerifier, ownElementsStandAtTheEnd) {
  const History h = hist(
      "s1: { a(l,1) r(l,[]) a(l,2) r(l,[2]) r(l,[1,2]) }\n"
      "s2: { r(l,[7]) a(l,7) r(l,[7]) }\n");
  EXPECT_TRUE(verifies(bad_read("pl-1", not_my_own_write, 1, 0), h));
  EXPECT_TRUE(verifies(bad_read(kAll, not_my_own_write, 3, 0), h));
  EXPECT_TRUE(refused(bad_read("causal", not_my_own_write, 4, 0), h, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", not_my_own_write, 1, 2), h, "is no"));
  EXPECT_TRUE(verifies(bad_read(kAll, future_read, 5, 6), h));
  EXPECT_TRUE(refused(bad_read("causal", future_read, 7, 6), h, "is no"));
}

TEST(BadReadVerifier, comparedAndRangedValues) {
  const History h = hist("s1: { w(b,1) }!\ns2: { cas(b,1,2) } { range(a..c,[b=1]) }\n");
  EXPECT_TRUE(verifies(bad_read(kAll, aborted_read, 1, 0), h));
  EXPECT_TRUE(verifies(bad_read(kAll, aborted_read, 2, 0), h));
  const History honest = hist("s1: { w(b,1) }\ns2: { cas(b,1,2) } { range(a..c,[b=1]) }\n");
  EXPECT_TRUE(refused(bad_read("causal", aborted_read, 1, 0), honest, "is no"));
  EXPECT_TRUE(refused(bad_read("causal", thin_air_read, 2, kNone), honest, "is no"));
}

}  // namespace
}  // namespace assay::internal::certify
