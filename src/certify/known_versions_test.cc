#include "certify/known_versions.h"

#include <gtest/gtest.h>

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

constexpr std::string_view kNothingSays = "nothing says whether the version of x";

// C saw A's version of x, whichever kind of operation told it so.
TEST(KnownVersions, EveryKindOfObservationCounts) {
  const std::string writers = "s1: A { w(x,1) }\ns2: B { w(x,2) }\n";
  for (const char* sees : {"r(x,1)", "cas(x,1,3)", "cas(x,2,3)!", "ins(x,3)!", "range(a..z,[x=1])",
                           "p(value = 1,[x=1])", "p(value = 2,[])", "agg(count, value = 2,[0])"}) {
    const History open = hist(writers + "s3: C { " + sees + " }\n");
    EXPECT_TRUE(refused(single_order("pl-3", {0, 2, 1}), open, kNothingSays)) << sees;
    const History stated = hist(writers + "s3: C { " + sees + " }\norder x: 1 2\n");
    if (std::string_view(sees).starts_with("cas(x,1")) continue;  // writes a version itself
    EXPECT_TRUE(verifies(single_order("pl-3", {0, 2, 1}), stated)) << sees;
  }
}

TEST(KnownVersions, UnseenOnesStandAnyhowBehindThoseThatWereSeen) {
  EXPECT_TRUE(verifies(single_order("pl-3", {1, 0}), hist("s1: { w(x,1) }\ns2: { w(x,2) }\n")));
  const History behind = hist(
      "s1: A { w(x,1) }\ns2: B { w(x,2) }\ns3: C { w(x,3) }\ns4: D { r(x,1) }\n"
      "order x: 1 2\norder x: 1 3\n");
  EXPECT_TRUE(verifies(single_order("pl-3", {0, 3, 1, 2}), behind));
  EXPECT_TRUE(verifies(single_order("pl-3", {0, 3, 2, 1}), behind));
}

TEST(KnownVersions, ListsShowTheOrderOfWhatTheyHold) {
  const std::string text = "s1: { a(x,1) }\ns2: { a(x,2) }\ns3: { a(x,3) }\n";
  EXPECT_TRUE(verifies(single_order("pl-3", {0, 1, 3, 2}), hist(text + "s4: { r(x,[1,2]) }\n")));
  EXPECT_TRUE(verifies(single_order("pl-3", {3, 0, 1, 2}), hist(text + "s4: { r(x,[]) }\n")));
}

// From pl-2 on; and whatever serves pl-2 serves pl-1.
TEST(KnownVersions, AnUpdateComesAfterWhatItRead) {
  const History update = hist("s1: A { w(x,1) }\ns2: B { r(x,1) w(x,2) }\ns3: C { r(x,2) }\n");
  EXPECT_TRUE(verifies(single_order("pl-1 pl-2 pl-3", {0, 1, 2}), update));
  // A or a delete may have left the null that C read.
  const History open =
      hist("s1: A { d(x,t) }\ns2: B { w(x,1) }\ns3: C { r(x,null) w(x,2) }\ns4: { r(x,2) }\n");
  EXPECT_TRUE(refused(single_order("pl-2", {1, 0, 2, 3}), open, kNothingSays));
}

TEST(KnownVersions, AtPl1AnOperationMayHaveSeenWhatDidNotStay) {
  const std::string writers = "s1: A { w(x,1) }\ns2: B { w(x,2) }\ns3: C { r(x,1) }\n";
  EXPECT_TRUE(refused(single_order("pl-1", {0, 2, 1}), hist(writers), kNothingSays));
  EXPECT_TRUE(verifies(single_order("pl-1", {0, 2, 1}), hist(writers + "s4: { w(x,1) }!\n")));
}

}  // namespace
}  // namespace assay::internal::certify
