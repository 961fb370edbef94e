#include <gtest/gtest.h>

#include <numeric>

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

constexpr std::string_view kUntimedLevels =
    "read-committed read-atomic causal prefix adya-si session-si serializable session-serializable";

// Transactions 0 and 1 in session 1, 2 in session 2.
constexpr std::string_view kSerial =
    "s1: @[0,10] { r(x,null) w(x,1) } @[20,30] { r(x,2) }\n"
    "s2: @[12,15] { r(x,1) w(x,2) }\n";

TEST(OrderVerifier, serialOrderServesAllLevels) {
  const History h = hist(kSerial);
  Certificate c = single_order("causal", {0, 2, 1});
  c.levels = every_level();
  c.levels.pop_back();  // linearizable: more than one operation
  EXPECT_TRUE(verifies(c, h));
  c.levels = {LevelId::linearizable};
  EXPECT_TRUE(refused(c, h, "one operation"));
  EXPECT_TRUE(refused(single_order("serializable", {2, 0, 1}), h, "reads x = 1"));
}

TEST(OrderVerifier, orderHoldsWhatCountsExactlyOnce) {
  const History h = hist("s1: { w(x,1) } { w(x,2) }! { w(x,3) }?\n");
  EXPECT_TRUE(verifies(single_order("session-serializable", {0}), h));
  EXPECT_TRUE(verifies(single_order("session-serializable", {0, 2}), h));
  EXPECT_TRUE(refused(single_order("serializable", {}), h, "missing"));
  EXPECT_TRUE(refused(single_order("serializable", {2}), h, "missing"));
  EXPECT_TRUE(refused(single_order("serializable", {0, 1}), h, "aborted"));
  EXPECT_TRUE(refused(single_order("serializable", {0, 0}), h, "twice"));
  EXPECT_TRUE(refused(single_order("serializable", {0, 3}), h, "no transaction"));
  EXPECT_TRUE(refused(single_order("serializable", {0, kNone}), h, "no transaction"));
  EXPECT_TRUE(refused(single_order("serializable", {0, 2, 0, 2, 0, 2, 0, 2, 0, 2}), h, "events"));
  EXPECT_TRUE(refused(split_order("prefix", {0}), h, "only one"));
  EXPECT_TRUE(refused(split_order("prefix", {1, 0}), h, "before its reads"));
  EXPECT_TRUE(refused(split_order("prefix", {0, 1, 1}), h, "twice"));
  EXPECT_TRUE(refused(split_order("prefix", {0, 1, 4}), h, "only one"));
  EXPECT_TRUE(refused(split_order("prefix", {0, 1, 6, 7}), h, "no transaction"));
}

// Each r is one statement, the last all that are left.
TEST(OrderVerifier, statementsHaveMomentsOfTheirOwn) {
  const History h = hist(
      "s1: { r(x,null) r(x,1) }\n"
      "s2: { w(x,1) }\n");
  EXPECT_TRUE(verifies(split_order("statement-snapshot", {0, 2, 3, 0, 1}), h));
  EXPECT_TRUE(refused(split_order("statement-snapshot", {0, 1, 2, 3}), h, "reads x = 1"));
  EXPECT_TRUE(refused(split_order("statement-snapshot", {0, 0, 2, 3, 1}), h, "reads x = 1"));
  EXPECT_TRUE(refused(split_order("read-committed", {0, 2, 3, 0, 1}), h, "twice"));
  EXPECT_TRUE(refused(single_order("statement-snapshot", {0, 1, 0}), h, "twice"));
}

TEST(OrderVerifier, statementsLockWhatTheyWrite) {
  const History h = hist(
      "s1: { w(x,1) r(y,null) }\n"
      "s2: { w(x,2) w(y,2) }\n"
      "s3: { r(x,1) }\n");
  EXPECT_TRUE(verifies(split_order("statement-snapshot", {0, 0, 1, 4, 5, 2, 2, 3}), h));
  EXPECT_TRUE(refused(split_order("statement-snapshot", {0, 2, 0, 1, 4, 5, 2, 3}), h, "overlap"));
  EXPECT_TRUE(refused(split_order("statement-snapshot", {0, 2, 2, 3, 0, 1, 4, 5}), h, "overlap"));
}

TEST(OrderVerifier, certificateNamesLevelsOnce) {
  const History h = hist("s1: { w(x,1) }\n");
  Certificate c = single_order("", {0});
  EXPECT_TRUE(refused(c, h, "no level"));
  c.levels = {LevelId::causal, LevelId::causal};
  EXPECT_TRUE(refused(c, h, "twice"));
  c.levels = {static_cast<LevelId>(200)};
  EXPECT_TRUE(refused(c, h, "unknown level"));
  c.levels = {LevelId::causal};
  c.kind = static_cast<Certificate::Kind>(9);
  EXPECT_TRUE(refused(c, h, "unknown kind"));
}

TEST(OrderVerifier, readsOfKeptUnknownsMustBeExplained) {
  const History h = hist(
      "s1: { w(x,1) }\n"
      "s2: { r(x,7) w(y,1) }?\n"
      "s3: { r(y,1) }\n");
  EXPECT_TRUE(refused(single_order("serializable", {0, 1, 2}), h, "reads x = 7"));
  EXPECT_TRUE(refused(single_order("read-committed", {0, 1, 2}), h, "reads x = 7"));
  EXPECT_TRUE(refused(single_order("serializable", {0, 2}), h, "reads y = 1"));
  EXPECT_TRUE(refused(single_order("read-committed", {0, 2}), h, "reads y = 1"));
}

TEST(OrderVerifier, intermediateVersionsAreNeverSeen) {
  const History h = hist(
      "s1: { w(x,1) w(x,2) }\n"
      "s2: { r(x,1) }\n");
  for (const char* level : {"serializable", "session-si", "read-committed"})
    EXPECT_TRUE(refused(single_order(level, {0, 1}), h, "reads x = 1"));
  EXPECT_TRUE(refused(split_order("prefix", {0, 2, 3, 1}), h, "reads x = 1"));
}

TEST(OrderVerifier, ownWritesAreSeenAtOnceAndByNobodyElse) {
  const History own = hist("s1: { w(x,1) r(x,1) w(x,2) r(x,2) }\n");
  EXPECT_TRUE(verifies(single_order(kUntimedLevels, {0}), own));
  EXPECT_TRUE(refused(single_order("read-committed", {0}), hist("s1: { w(x,1) w(x,2) r(x,1) }\n"),
                      "own last write"));
  const History other = hist(
      "s1: { w(x,1) }\n"
      "s2: { w(x,2) r(x,1) }\n");
  EXPECT_TRUE(refused(single_order("serializable", {0, 1}), other, "reads x = 1"));
  EXPECT_TRUE(refused(split_order("prefix", {2, 0, 1, 3}), other, "reads x = 1"));
  const History future = hist("s1: { r(x,1) w(x,1) }\n");
  EXPECT_TRUE(refused(single_order("serializable", {0}), future, "reads x = 1"));
  EXPECT_TRUE(refused(single_order("read-committed", {0}), future, "reads x = 1"));
}

TEST(OrderVerifier, initialValue) {
  EXPECT_TRUE(verifies(single_order("serializable", {0}), hist("initial 0\ns1: { r(x,0) }\n")));
  EXPECT_TRUE(refused(single_order("serializable", {0}), hist("initial 0\ns1: { r(x,null) }\n"),
                      "initial value"));
  EXPECT_TRUE(refused(single_order("serializable", {0, 1}),
                      hist("initial 0\ns1: { w(x,1) } { r(x,0) }\n"), "x = 1"));
}

TEST(OrderVerifier, writeSkewNeedsSplitOrder) {
  const History h = hist(
      "s1: { r(x,null) r(y,null) w(x,1) }\n"
      "s2: { r(x,null) r(y,null) w(y,1) }\n");
  const std::vector<uint32_t> skew = {0, 2, 1, 3};
  EXPECT_TRUE(verifies(
      split_order("read-committed read-atomic causal prefix adya-si session-si", skew), h));
  EXPECT_TRUE(refused(split_order("serializable", skew), h, "separates"));
  EXPECT_TRUE(refused(split_order("serializable", {0, 1, 2, 3}), h, "reads x"));
  EXPECT_TRUE(refused(single_order("adya-si", {0, 1}), h, "reads x"));
}

TEST(OrderVerifier, splitOrderOfPairsServesSingleLevels) {
  EXPECT_TRUE(
      verifies(split_order("serializable strict-serializable", {0, 1, 4, 5, 2, 3}), hist(kSerial)));
}

TEST(OrderVerifier, lostUpdateOverlaps) {
  const History h = hist(
      "s1: { r(x,null) w(x,1) }\n"
      "s2: { r(x,null) w(x,2) }\n");
  EXPECT_TRUE(verifies(split_order("prefix causal", {0, 2, 1, 3}), h));
  EXPECT_TRUE(refused(split_order("adya-si", {0, 2, 1, 3}), h, "overlap"));
  EXPECT_TRUE(refused(split_order("adya-si", {0, 2, 3, 1}), h, "overlap"));
  // Blind writers may not overlap either; readers of the key may.
  const History blind = hist(
      "s1: { w(x,1) }\n"
      "s2: { w(x,2) }\n"
      "s3: { r(x,null) }\n");
  EXPECT_TRUE(refused(split_order("adya-si", {4, 0, 2, 1, 3, 5}), blind, "overlap"));
  EXPECT_TRUE(verifies(split_order("adya-si", {4, 0, 1, 2, 3, 5}), blind));
}

TEST(OrderVerifier, sessionOrder) {
  const History h = hist(
      "s1: { w(x,1) } { r(x,null) }\n"
      "s2: { w(y,1) }\n");
  EXPECT_TRUE(verifies(single_order("serializable adya-si", {1, 0, 2}), h));
  for (const char* level :
       {"session-serializable", "session-si", "prefix", "causal", "read-atomic", "read-committed"})
    EXPECT_TRUE(refused(single_order(level, {1, 0, 2}), h, "earlier in its session"));
  // Reads before the writes of the predecessor, writes after them: not session order.
  EXPECT_TRUE(refused(split_order("prefix", {0, 2, 1, 3, 4, 5}), h, "earlier in its session"));
}

TEST(OrderVerifier, sessionsDoNotWaitForUnknownOutcomes) {
  const History h = hist(
      "s1: { w(x,1) } { r(x,1) w(y,1) }? { r(y,null) w(z,1) }\n"
      "s2: { r(y,1) }\n");
  // The unknown one may come after its successor, but not before its predecessor.
  EXPECT_TRUE(verifies(single_order("session-serializable causal", {0, 2, 1, 3}), h));
  const History early = hist(
      "s1: { w(x,1) } { w(y,1) }?\n"
      "s2: { r(y,1) }\n");
  EXPECT_TRUE(verifies(single_order("session-serializable", {0, 1, 2}), early));
  EXPECT_TRUE(refused(single_order("session-serializable", {1, 0, 2}), early, "earlier"));
  // The committed one after it still waits for the one before it.
  const History around = hist("s1: { w(x,1) } { w(y,1) }? { w(z,1) }\n");
  EXPECT_TRUE(refused(single_order("session-serializable", {2, 0, 1}), around, "earlier"));
}

TEST(OrderVerifier, realTimeIsStrict) {
  const std::string text =
      "s1: @[0,10] { w(x,1) }\n"
      "s2: @[11,20] { r(x,null) }\n";
  EXPECT_TRUE(refused(single_order("strict-serializable", {1, 0}), hist(text), "ended before"));
  EXPECT_TRUE(refused(single_order("linearizable", {1, 0}), hist(text), "ended before"));
  const std::string touching =
      "s1: @[0,10] { w(x,1) }\n"
      "s2: @[10,20] { r(x,null) }\n";
  EXPECT_TRUE(verifies(single_order("strict-serializable linearizable", {1, 0}), hist(touching)));
}

TEST(OrderVerifier, realTimeBetweenRequestAndResponse) {
  // The end of the first lies between 8 and 12, the begin of the second between 10 and 11.
  const History overlap = hist(
      "s1: @[0,8~12] { w(x,1) }\n"
      "s2: @[10~11,20] { r(x,null) }\n");
  EXPECT_TRUE(verifies(single_order("strict-serializable", {1, 0}), overlap));
  const History apart = hist(
      "s1: @[0,8~9] { w(x,1) }\n"
      "s2: @[10~11,20] { r(x,null) }\n");
  EXPECT_TRUE(refused(single_order("strict-serializable", {1, 0}), apart, "ended before"));
}

TEST(OrderVerifier, generalizedSiOrdersCommits) {
  const History h = hist(
      "s1: @[0,10] { w(x,1) }\n"
      "s2: @[11,20] { r(x,null) w(y,1) }\n");
  // An old snapshot is allowed, later commits before earlier ones are not.
  EXPECT_TRUE(verifies(split_order("generalized-si strong-session-si", {2, 0, 1, 3}), h));
  EXPECT_TRUE(refused(split_order("generalized-si", {2, 3, 0, 1}), h, "before"));
  EXPECT_TRUE(refused(split_order("strong-si", {2, 0, 1, 3}), h, "ended before it began"));
}

TEST(OrderVerifier, generalizedSiReadsNothingFromTheFuture) {
  // The second began before the first ended, but began after the first committed in this order.
  const History h = hist(
      "s1: @[10,20] { w(x,1) }\n"
      "s2: @[0,5] { r(x,1) }\n");
  EXPECT_TRUE(verifies(split_order("session-si", {0, 1, 2, 3}), h));
  EXPECT_TRUE(refused(split_order("generalized-si", {0, 1, 2, 3}), h, "began before it ended"));
}

TEST(OrderVerifier, unknownOutcomesHaveNoEnd) {
  const History h = hist(
      "s1: @[0,5] { w(x,1) }?\n"
      "s2: @[10,20] { r(x,null) }\n"
      "s3: @[30,40] { r(x,1) }\n");
  EXPECT_TRUE(verifies(single_order("strict-serializable linearizable", {1, 0, 2}), h));
  const History early = hist(
      "s1: @[0,5] { w(x,1) }\n"
      "s2: @[10,20] { w(y,1) }?\n"
      "s3: @[30,40] { r(y,1) }\n");
  EXPECT_TRUE(refused(single_order("strict-serializable", {1, 0, 2}), early, "ended before"));
}

TEST(OrderVerifier, realTimeNeedsTimes) {
  const History h = hist("s1: @[0,5] { w(x,1) }\ns2: { r(x,1) }\n");
  EXPECT_TRUE(verifies(single_order("session-serializable", {0, 1}), h));
  EXPECT_TRUE(refused(single_order("strict-serializable", {0, 1}), h, "time of every"));
}

TEST(OrderVerifier, lists) {
  const History h = hist(
      "s1: { a(l,1) a(l,2) } { r(l,[1,2]) a(l,4) r(l,[1,2,4]) }\n"
      "s2: { r(l,[]) a(l,3) r(l,[3]) }\n");
  EXPECT_TRUE(verifies(split_order("prefix causal", {4, 0, 1, 2, 3, 5}), h));
  EXPECT_TRUE(refused(single_order("serializable", {0, 1, 2}), h, "another outcome"));
  EXPECT_TRUE(refused(single_order("serializable", {2, 0, 1}), h, "another outcome"));
  // What one appends unseen stands behind what was there.
  const History three = hist("s1: { a(l,1) }\ns2: { a(l,2) }\ns3: { r(l,[2,1]) }\n");
  EXPECT_TRUE(verifies(single_order("serializable", {1, 0, 2}), three));
  EXPECT_TRUE(refused(single_order("serializable", {0, 1, 2}), three, "another list"));
  EXPECT_TRUE(refused(single_order("serializable", {1, 2, 0}), three, "another list"));
  // An empty list is what a key without appends holds, whatever other keys start with.
  EXPECT_TRUE(verifies(single_order("serializable", {0}), hist("initial 0\ns1: { r(l,[]) }\n")));
  // A list is no register.
  EXPECT_FALSE(
      verify(single_order("serializable", {0, 1}), hist("s1: { a(l,1) } { r(l,1) }\n")).ok());
  EXPECT_FALSE(
      verify(single_order("serializable", {0, 1}), hist("s1: { w(l,1) } { a(l,2) }\n")).ok());
}

TEST(OrderVerifier, removals) {
  const History h =
      hist("s1: { w(x,1) } { d(x,t) r(x,null) } { r(x,null) r(x,t) } { w(x,2) } { r(x,2) }\n");
  EXPECT_TRUE(verifies(single_order(kUntimedLevels, {0, 1, 2, 3, 4}), h));
  EXPECT_FALSE(
      verify(single_order("serializable", {0, 1}), hist("s1: { w(x,1) d(x,t) } { r(x,1) }\n"))
          .ok());
  EXPECT_FALSE(
      verify(single_order("serializable", {0, 1}), hist("s1: { w(x,1) } { r(x,null) }\n")).ok());
}

TEST(OrderVerifier, conditionalWrites) {
  const History h = hist(
      "s1: { ins(x,1) } { ins(x,2)! } { cas(x,1,3) r(x,3) } { cas(x,1,4)! } { r(x,3) d(x,t) } "
      "{ cas(x,null,5) } { r(x,5) }\n");
  EXPECT_TRUE(verifies(single_order("serializable causal", {0, 1, 2, 3, 4, 5, 6}), h));
  EXPECT_FALSE(verify(single_order("serializable", {0}), hist("s1: { ins(x,1)! }\n")).ok());
  EXPECT_FALSE(
      verify(single_order("serializable", {0, 1}), hist("s1: { ins(x,1) } { ins(x,2) }\n")).ok());
  EXPECT_FALSE(
      verify(single_order("serializable", {0, 1}), hist("s1: { w(x,1) } { cas(x,1,2)! }\n")).ok());
  EXPECT_FALSE(
      verify(single_order("serializable", {0, 1}), hist("s1: { w(x,1) } { cas(x,2,3) }\n")).ok());
  EXPECT_FALSE(
      verify(single_order("serializable", {0, 1}), hist("s1: { ins(x,1)! } { r(x,1) }\n")).ok());
  // A conditional write without effect is no writer.
  EXPECT_TRUE(verifies(split_order("adya-si", {0, 2, 1, 3, 4, 5}),
                       hist("s1: { cas(x,1,2)! }\ns2: { cas(x,1,3)! }\ns3: { w(x,4) }\n")));
}

// A row that was passed over was there and did not satisfy; one that was returned did.
TEST(OrderVerifier, conditions) {
  const auto holds = [](const std::string& query) {
    const History h = hist("s1: { w(a,3) w(b,7) }\ns2: { " + query + " }\n");
    return verify(single_order("serializable", {0, 1}), h).ok();
  };
  EXPECT_TRUE(holds("p(value < 5,[a=3])"));
  EXPECT_TRUE(holds("p(value < 5,[a=3],passed[b=7])"));
  EXPECT_TRUE(holds("p(value < 5,[],matched[a])"));
  EXPECT_TRUE(holds("p(value < 5,[],found)"));
  EXPECT_FALSE(holds("p(value < 5,[])"));
  EXPECT_FALSE(holds("p(value < 5,[a=3,b=7])"));
  EXPECT_FALSE(holds("p(value < 5,[],passed[a=3])"));
  EXPECT_FALSE(holds("p(value < 5,[a=3],passed[b=8])"));
  EXPECT_FALSE(holds("p(value < 5,[a=3],matched[b])"));
  EXPECT_FALSE(holds("p(b..: value < 5,[a=3])"));
}

TEST(OrderVerifier, ranges) {
  const std::string writes = "s1: { w(b,1) w(d,2) w(a,3) }\n";
  auto after_writes = [&](const std::string& query) {
    return verify(single_order("serializable", {0, 1}), hist(writes + "s2: { " + query + " }\n"))
        .ok();
  };
  EXPECT_TRUE(after_writes("range(b..d,[b=1,d=2])"));
  EXPECT_TRUE(after_writes("range(..,[a=3,b=1,d=2])"));
  EXPECT_TRUE(after_writes("range(c..,[d=2])"));
  EXPECT_TRUE(after_writes("range(..c,[b=1,a=3])"));
  EXPECT_TRUE(after_writes("range(e..f,[])"));
  EXPECT_FALSE(after_writes("range(b..d,[b=1])"));
  EXPECT_FALSE(after_writes("range(b..d,[b=1,d=3])"));
  EXPECT_FALSE(after_writes("range(b..c,[b=1,d=2])"));
  EXPECT_FALSE(after_writes("range(..b,[b=1])"));
  EXPECT_FALSE(after_writes("range(b..c,[b=1,c=1])"));
  // Its own writes and removals.
  EXPECT_TRUE(after_writes("w(c,9) range(b..d,[b=1,c=9,d=2])"));
  EXPECT_FALSE(after_writes("w(c,9) range(b..d,[b=1,d=2])"));
  EXPECT_TRUE(after_writes("d(d,t) range(b..d,[b=1])"));
  EXPECT_FALSE(after_writes("d(d,t) range(b..d,[b=1,d=2])"));
  // Before the writes nothing is there, after a removal no more.
  const History phantom =
      hist(writes +
           "s2: { range(a..d,[]) }\ns3: { d(b,t) range(..,[a=3,d=2]) } { range(..,[a=3,d=2]) }\n");
  EXPECT_TRUE(verifies(single_order("serializable", {1, 0, 2, 3}), phantom));
  EXPECT_FALSE(verify(single_order("serializable", {0, 1, 2, 3}), phantom).ok());
}

TEST(OrderVerifier, rangesOverAnInitialValue) {
  // Every key that somebody touches is there from the start; a bound is no key.
  EXPECT_TRUE(verifies(single_order("serializable", {1, 0}),
                       hist("initial 0\ns1: { w(b,1) }\ns2: { range(a..c,[b=0]) }\n")));
  EXPECT_FALSE(verify(single_order("serializable", {1, 0}),
                      hist("initial 0\ns1: { w(b,1) }\ns2: { range(a..c,[]) }\n"))
                   .ok());
}

TEST(OrderVerifier, whatKnownOrdersName) {
  const std::string text =
      "s1: { w(x,1) w(x,3) } { w(x,4) w(x,8) }!\ns2: { w(x,2) }\ns3: { w(x,4) }\ns4: { w(x,5) }\n"
      "s5: { w(x,5) }\n";
  const auto order = [](std::vector<uint32_t> txns) {
    return single_order("serializable pl-1 causal", std::move(txns));
  };
  // Overwritten versions were installed as well; what an aborted transaction wrote too is the
  // other's.
  const History overwritten = hist(text + "order x: 2 4 1\n");
  EXPECT_TRUE(verifies(order({2, 3, 0, 4, 5}), overwritten));
  EXPECT_TRUE(refused(order({2, 0, 3, 4, 5}), overwritten, "history states"));
  // Another transaction's version between two of one.
  for (const std::vector<uint32_t>& txns :
       {std::vector<uint32_t>{0, 2, 3, 4, 5}, std::vector<uint32_t>{2, 0, 3, 4, 5}})
    EXPECT_TRUE(refused(order(txns), hist(text + "order x: 1 2 3\n"), "history states"));
  // Of two that wrote one value neither is named.
  EXPECT_TRUE(verifies(order({0, 2, 3, 4, 5}), hist(text + "order x: 5 2 5\n")));
  for (const char* bad : {"order x: 2 7\n", "order x: 8 2\n", "order x: 2 null\n"})
    EXPECT_TRUE(refused(order({0, 2, 3, 4, 5}), hist(text + bad), "no transaction installed"));
  for (const char* bad : {"order x: 1 2\norder x: 2 1\n",
                          "order x: 1 2\norder x: 2 4\norder x: 4 1\n", "order x: 1 2 1\n"})
    EXPECT_TRUE(refused(order({0, 2, 3, 4, 5}), hist(text + bad), "opposite orders"));
}

TEST(OrderVerifier, ordersThatNameTransactions) {
  const std::string text =
      "s1: a@[0,1] { w(x,5) }\ns2: b@[0,2] { w(x,5) d(y,gone) }\ns3: c@[0,3] { w(x,6) }\n"
      "s4: d { w(x,5) }!\n";
  const auto order = [](std::vector<uint32_t> txns) {
    return single_order("serializable pl-1 causal", std::move(txns));
  };
  // Two wrote 5.
  const History named = hist(text + "order x: b=5 c=6 a=5\n");
  EXPECT_TRUE(verifies(order({1, 2, 0}), named));
  EXPECT_TRUE(refused(order({0, 2, 1}), named, "history states"));
  for (const char* bad : {"order x: d=5\n", "order x: a=6\n", "order y: a=null\n"})
    EXPECT_TRUE(refused(order({1, 2, 0}), hist(text + bad), "cannot have installed it"));
  EXPECT_TRUE(refused(order({1, 2, 0}), hist(text + "order x: a=5 b=5\norder x: b=5 a=5\n"),
                      "opposite orders"));
  // Complete orders lack nothing that was acknowledged before.
  const std::string whole = "order x: b=5 c=6 a=5\norder y: b=null\n";
  EXPECT_TRUE(
      verifies(order({1, 2, 0}), hist(text + whole + R"(event {"event":"complete","at":9})")));
  const std::string part = "order x: b=5 a=5\norder y: b=null\n";
  EXPECT_TRUE(
      verifies(order({1, 2, 0}), hist(text + part + R"(event {"event":"complete","at":2})")));
  EXPECT_TRUE(refused(order({1, 2, 0}), hist(text + part + R"(event {"event":"complete","at":3})"),
                      "lost-commit"));
}

TEST(OrderVerifier, aKnownOrderSettlesAnUnknownOutcome) {
  const History h = hist("s1: { w(x,1) }?\ns2: { w(x,2) }\norder x: 1 2\n");
  EXPECT_TRUE(verifies(single_order("serializable pl-3 causal", {0, 1}), h));
  EXPECT_TRUE(refused(single_order("serializable", {1}), h, "lacks transaction"));
}

TEST(OrderVerifier, knownVersionOrders) {
  const std::string text = "s1: { w(x,1) }\ns2: { w(x,2) }\n";
  EXPECT_TRUE(verifies(single_order(kUntimedLevels, {1, 0}), hist(text + "order x: 2 1\n")));
  for (const char* level : {"serializable", "adya-si", "causal"})
    EXPECT_TRUE(
        refused(single_order(level, {0, 1}), hist(text + "order x: 2 1\n"), "history states"));
}

// The weak levels. Where the order can be replayed nothing more is asked, so these orders cannot
// be.

TEST(WeakOrderVerifier, longForkIsCausal) {
  const History h = hist(
      "s1: { w(x,1) }\n"
      "s2: { w(y,1) }\n"
      "s3: { r(x,1) r(y,null) }\n"
      "s4: { r(y,1) r(x,null) }\n");
  EXPECT_TRUE(verifies(single_order("causal read-atomic read-committed", {0, 1, 2, 3}), h));
  EXPECT_TRUE(refused(single_order("prefix", {0, 1, 2, 3}), h, "reads"));
}

TEST(WeakOrderVerifier, causalityViolation) {
  const History h = hist(
      "s1: { w(x,1) }\n"
      "s2: { r(x,1) w(y,1) }\n"
      "s3: { r(y,1) r(x,null) }\n");
  EXPECT_TRUE(verifies(single_order("read-atomic read-committed", {0, 1, 2}), h));
  EXPECT_TRUE(refused(single_order("causal", {0, 1, 2}), h, "initial state"));
  const History overwritten = hist(
      "s1: { w(x,1) }\n"
      "s2: { r(x,1) w(x,2) }\n"
      "s3: { r(x,2) w(y,1) }\n"
      "s4: { r(y,1) r(x,1) }\n");
  EXPECT_TRUE(verifies(single_order("read-atomic read-committed", {0, 1, 2, 3}), overwritten));
  EXPECT_TRUE(refused(single_order("causal", {0, 1, 2, 3}), overwritten, "saw transaction"));
  EXPECT_TRUE(
      refused(single_order("causal", {1, 0, 2, 3}), overwritten, "no transaction before it"));
}

TEST(WeakOrderVerifier, causalThroughSessions) {
  const History h = hist(
      "s1: { w(x,1) } { w(y,1) }\n"
      "s2: { r(y,1) } { r(x,null) }\n");
  EXPECT_TRUE(verifies(single_order("read-atomic read-committed", {0, 1, 2, 3}), h));
  EXPECT_TRUE(refused(single_order("causal", {0, 1, 2, 3}), h, "initial state"));
  // Without the session edge from the unknown one there is no chain.
  const History unknown = hist(
      "s1: { w(x,1) w(z,1) }? { w(y,1) }\n"
      "s2: { r(y,1) } { r(x,null) }\n"
      "s3: { r(z,1) }\n");
  EXPECT_TRUE(verifies(single_order("causal", {0, 1, 2, 3, 4}), unknown));
}

TEST(WeakOrderVerifier, theLaterOfTwoThatWereSeenCounts) {
  const History h = hist(
      "s1: { w(x,1) w(a,1) } { w(x,2) } { w(b,1) }\n"
      "s2: { r(a,1) r(b,1) r(x,1) }\n");
  EXPECT_TRUE(refused(single_order("causal", {0, 1, 2, 3}), h, "saw transaction"));
}

TEST(WeakOrderVerifier, unknownsAreNotSeenBySessionOrder) {
  // Both unknowns are in the past of the last: through reads, and then what their session did
  // before.
  const History h = hist(
      "s1: { w(x,1) } { w(y,1) }? { w(y,2) }? { w(v,9) }\n"
      "s2: { r(y,1) w(z,1) }\n"
      "s3: { r(z,1) r(x,null) }\n"
      "s4: { r(y,2) }\n");
  EXPECT_TRUE(verifies(single_order("read-atomic", {0, 1, 2, 3, 4, 5, 6}), h));
  EXPECT_TRUE(refused(single_order("causal", {0, 1, 2, 3, 4, 5, 6}), h, "initial state"));
}

TEST(WeakOrderVerifier, unknownsShareAChainIfOneSawTheOther) {
  const std::string unknowns =
      "s1: { w(x,1) }? { w(y,2) }?\n"
      "s2: { r(x,1) w(z,1) }\n"
      "s3: { r(z,1) w(v,1) }?\n";
  // The second did not see the first, so whoever saw it did not thereby see the first.
  const std::string apart = "s4: { r(y,2) r(x,null) }\n";
  EXPECT_TRUE(verifies(single_order("causal", {0, 1, 2, 4}), hist(unknowns + apart)));
  // The third did.
  const std::string together = "s4: { r(v,1) r(x,null) }\n";
  EXPECT_TRUE(
      refused(single_order("causal", {0, 2, 3, 4}), hist(unknowns + together), "initial state"));
}

TEST(WeakOrderVerifier, causalManyWritersPerChain) {
  // So many writers stand between that the verifier asks chains instead of writers.
  std::string one = "s1:", reads = "s2: { r(y,50) r(x,39) }\n";
  for (int i = 1; i <= 40; ++i) one += " { w(x," + std::to_string(i) + ") }";
  const std::string tail = " { w(y,50) } { w(y,51) } { w(x,41) }\n";
  std::vector<uint32_t> all(44);
  std::iota(all.begin(), all.end(), 0u);
  EXPECT_TRUE(refused(single_order("causal", all), hist(one + tail + reads), "saw transaction"));
  // 40 is the last that it saw; the 41st it did not see.
  const std::string ok = "s2: { r(y,50) r(x,40) }\n";
  const std::string more =
      "s3: { w(x,60) } { w(x,61) } { w(x,62) } { w(x,63) } { w(x,64) } { w(x,65) } "
      "{ w(x,66) } { w(x,67) } { w(x,68) } { w(x,69) } { w(x,70) } { w(x,71) } { w(x,72) }\n";
  std::vector<uint32_t> order(43);
  std::iota(order.begin(), order.end(), 0u);
  for (uint32_t t = 44; t < 57; ++t) order.push_back(t);
  order.push_back(43);
  EXPECT_TRUE(verifies(single_order("causal", order), hist(one + tail + ok + more)));
  EXPECT_TRUE(refused(single_order("causal", order),
                      hist(one + tail + "s2: { r(y,50) r(x,1) }\n" + more), "saw transaction"));
}

TEST(WeakOrderVerifier, fracturedRead) {
  const History x_first = hist(
      "s1: { w(x,1) w(y,1) }\n"
      "s2: { r(x,1) r(y,null) }\n");
  EXPECT_TRUE(refused(single_order("read-atomic", {0, 1}), x_first, "initial state"));
  EXPECT_TRUE(refused(single_order("read-committed", {0, 1}), x_first, "initial state"));
  const History y_first = hist(
      "s1: { w(x,1) w(y,1) }\n"
      "s2: { r(y,null) r(x,1) }\n");
  EXPECT_TRUE(refused(single_order("read-atomic", {0, 1}), y_first, "initial state"));
  EXPECT_TRUE(refused(single_order("causal", {0, 1}), y_first, "initial state"));
  EXPECT_TRUE(verifies(single_order("read-committed", {0, 1}), y_first));
}

TEST(WeakOrderVerifier, orderOfWritersMatters) {
  const History h = hist(
      "s1: { w(x,1) w(y,1) }\n"
      "s2: { w(x,2) w(y,2) }\n"
      "s3: { r(x,1) r(y,2) }\n");
  EXPECT_TRUE(verifies(single_order("read-committed", {0, 1, 2}), h));
  EXPECT_TRUE(refused(single_order("read-committed", {1, 0, 2}), h, "saw transaction"));
  EXPECT_TRUE(refused(single_order("read-atomic", {0, 1, 2}), h, "saw transaction"));
  EXPECT_TRUE(refused(single_order("read-atomic", {1, 0, 2}), h, "saw transaction"));
}

TEST(WeakOrderVerifier, ownSession) {
  const History h = hist("s1: { w(x,1) } { w(x,2) } { r(x,1) }\n");
  EXPECT_TRUE(verifies(single_order("read-committed", {0, 1, 2}), h));
  EXPECT_TRUE(refused(single_order("read-atomic", {0, 1, 2}), h, "saw transaction"));
  EXPECT_TRUE(refused(single_order("causal", {0, 1, 2}), h, "saw transaction"));
  const History unknown = hist("s1: { w(x,1) } { w(x,2) }? { r(x,1) }\ns2: { r(x,2) }\n");
  EXPECT_TRUE(verifies(single_order("read-atomic causal", {0, 1, 2, 3}), unknown));
}

TEST(WeakOrderVerifier, nonRepeatableReads) {
  const History forward = hist(
      "s1: { w(x,1) }\n"
      "s2: { r(x,null) r(x,1) }\n");
  EXPECT_TRUE(verifies(single_order("read-committed", {0, 1}), forward));
  EXPECT_TRUE(refused(single_order("read-atomic", {0, 1}), forward, "twice"));
  EXPECT_TRUE(refused(single_order("causal", {0, 1}), forward, "twice"));
  const History backward = hist(
      "s1: { w(x,1) }\n"
      "s2: { r(x,1) r(x,null) }\n");
  EXPECT_TRUE(refused(single_order("read-committed", {0, 1}), backward, "initial state"));
}

TEST(WeakOrderVerifier, severalPossibleWriters) {
  // Of several writers of one value the last before the reader is taken.
  const History h = hist(
      "s1: { w(x,1) w(y,1) }\n"
      "s2: { w(x,1) }\n"
      "s3: { r(y,null) r(x,1) }\n");
  EXPECT_TRUE(verifies(single_order("causal", {0, 1, 2}), h));
  EXPECT_TRUE(refused(single_order("causal", {1, 0, 2}), h, "initial state"));
  EXPECT_TRUE(verifies(single_order("read-committed", {1, 0, 2}), h));
  const History initial = hist("initial 0\ns1: { w(x,0) w(y,1) }\ns2: { r(x,0) r(y,0) }\n");
  EXPECT_TRUE(verifies(single_order("causal", {1, 0}), initial));
  EXPECT_TRUE(refused(single_order("causal", {0, 1}), initial, "initial state"));
}

TEST(WeakOrderVerifier, removalsAndConditionalWrites) {
  // The last reads y out of order, so that the order cannot be replayed.
  const std::string late = "s9: { r(late,null) }\n";
  auto serves = [&](std::string_view level, const std::string& text) {
    const History h = hist("s0: { w(late,1) }\n" + text + late);
    std::vector<uint32_t> all(h.txn_count());
    std::iota(all.begin(), all.end(), 0u);
    return verify(single_order(level, all), h).ok();
  };
  EXPECT_TRUE(serves("causal", "s1: { ins(x,1) cas(x,1,2) r(x,2) d(x,t) r(x,null) r(x,t) }\n"));
  EXPECT_TRUE(serves(
      "causal",
      "s1: { ins(x,1) }\ns2: { cas(x,1,2) }\ns3: { r(x,2) d(x,t) }\ns4: { r(x,t) ins(x,5) }\n"));
  EXPECT_FALSE(serves("read-committed", "s1: { ins(x,1) ins(x,2) }\n"));
  EXPECT_FALSE(serves("read-committed", "s1: { w(x,1) cas(x,2,3) }\n"));
  EXPECT_FALSE(serves("read-committed", "s1: { d(x,t) r(x,1) }\n"));
  EXPECT_TRUE(serves("causal", "s1: { d(x,t) }\ns2: { r(x,null) }\ns3: { r(x,t) }\n"));
  EXPECT_FALSE(serves("read-committed", "s1: { r(x,t) }\ns2: { d(x,t) }\n"));
  EXPECT_FALSE(serves("read-committed", "s1: { w(x,1) d(x,t) }\ns2: { r(x,1) }\n"));
  // The insert saw no x although its session had written one.
  EXPECT_TRUE(serves("read-committed", "s1: { w(x,1) } { ins(x,2) }\n"));
  EXPECT_FALSE(serves("read-atomic", "s1: { w(x,1) } { ins(x,2) }\n"));
}

// A list is what whole transactions appended, in the order of their commits.
TEST(WeakOrderVerifier, listsGrowInCommitOrder) {
  const auto h = [](const char* read) {
    return hist(std::string("s1: { w(y,1) a(l,1) a(l,2) }\ns2: { a(l,3) }\ns3: { ") + read +
                " r(y,null) }\n");
  };
  const Certificate forth = single_order("read-committed", {0, 1, 2});
  EXPECT_TRUE(verifies(forth, h("r(l,[])")));
  EXPECT_TRUE(verifies(single_order("read-committed", {1, 0, 2}), h("r(l,[3])")));
  EXPECT_TRUE(verifies(single_order("read-committed", {1, 0, 2}), h("a(l,4) r(l,[3,4])")));
  for (const char* torn :
       {"r(l,[1])", "r(l,[3])", "r(l,[2,1])", "r(l,[1,2,3,9])", "a(l,4) r(l,[1,2])"})
    EXPECT_TRUE(refused(forth, h(torn), "is not what the order has appended")) << torn;
  EXPECT_TRUE(refused(forth, h("r(l,[1,2])"), "saw transaction s1-0, yet reads y"));
  EXPECT_TRUE(refused(forth, hist("s1: { w(y,1) w(l,1) }\ns2: { a(l,3) }\ns3: { r(y,null) }\n"),
                      "is used as a list and as a register"));
}

// What shows only that a key is in some other state is explained by own writes, or by a source that
// is named.
TEST(WeakOrderVerifier, otherStatesNeedASource) {
  for (const char* op : {"ins(w,2)!", "cas(w,7,8)!"}) {
    const History own = hist(std::string("s1: { w(y,1) w(w,1) ") + op + " }\ns2: { r(y,null) }\n");
    EXPECT_TRUE(verifies(single_order("read-committed", {0, 1}), own)) << op;
    const History others =
        hist(std::string("s1: { w(y,1) w(w,1) }\ns2: { r(y,null) ") + op + " }\n");
    Certificate c = single_order("read-committed", {0, 1});
    EXPECT_TRUE(refused(c, others, "has no source for a key that it sees")) << op;
    c.order.sources = {{3, key(others, "w"), 0}};
    EXPECT_TRUE(verifies(c, others)) << op;
    c.levels = levels("read-atomic");
    EXPECT_TRUE(refused(c, others, "saw transaction s1-0, yet reads y")) << op;
  }
}

// Of each key it covers: its own last write, or the last before it that left the row, or left none.
TEST(WeakOrderVerifier, aRangeReadsWhoLeftItLikeThatLast) {
  const auto served = [](const char* text, std::vector<uint32_t> order, const char* level) {
    return verify(single_order(level, std::move(order)), hist(text));
  };
  EXPECT_TRUE(
      served("s1: { w(w,1) range(w..w,[w=1]) }\ns2: { r(y,null) }\n", {0, 1}, "read-atomic").ok());
  const char* present = "s1: { w(y,1) w(w,1) }\ns2: { r(y,null) range(w..w,[w=1]) }\n";
  EXPECT_TRUE(served(present, {0, 1}, "read-committed").ok());
  EXPECT_TRUE(refused(single_order("read-atomic", {0, 1}), hist(present), "yet reads y"));
  EXPECT_TRUE(refused(single_order("read-committed", {1, 0}), hist(present), "has no source"));
  const char* absent = "s1: { w(y,1) w(w,1) }\ns2: { r(y,1) range(v..x,[]) }\n";
  EXPECT_TRUE(refused(single_order("read-atomic", {0, 1}), hist(absent), "yet reads w"));
  const char* deleted = "s1: { w(w,1) }\ns2: { d(w,9) w(y,1) }\ns3: { r(y,1) range(v..x,[]) }\n";
  EXPECT_TRUE(served(deleted, {0, 1, 2}, "causal").ok());
  const char* outside = "s1: { w(w,1) }\ns2: { range(a..b,[w=1]) }\n";
  EXPECT_TRUE(refused(single_order("read-committed", {0, 1}), hist(outside), "has no source"));
}

// The sources of a commit order are what counts, not the last writer before the reader.
TEST(OrderVerifier, ACommitOrderMayNameItsSources) {
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
  EXPECT_TRUE(refused(c, h, "cannot have read from its source"));
  // In any order, each once.
  c.order.sources = {{4, key(h, "y"), kNone}, {3, key(h, "x"), 0}};
  EXPECT_TRUE(verifies(c, h));
  c.order.sources.push_back({3, key(h, "x"), 1});
  EXPECT_TRUE(refused(c, h, "impossible sources"));
}

// A transaction sees what it wrote itself, whoever else wrote the same.
TEST(OrderVerifier, OwnWritesHaveNoSource) {
  const History h = hist("s1: { w(x,1) }\ns2: { w(y,2) }\ns3: { w(x,1) r(x,1) r(y,null) }\n");
  Certificate c = single_order("causal", {0, 1, 2});
  c.order.sources = {{4, key(h, "y"), kNone}};
  EXPECT_TRUE(verifies(c, h));
  c.order.sources.push_back({3, key(h, "x"), 0});
  EXPECT_TRUE(refused(c, h, "cannot have read from its source"));
}

}  // namespace
}  // namespace assay::internal::certify
