#include "certify/exhaustion_verifier.h"

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

Certificate exhausted(std::string_view names, KeyId key, TxnId until) {
  Certificate c;
  c.levels = levels(names);
  c.kind = Certificate::Kind::exhausted;
  c.exhausted = {key, until};
  return c;
}

constexpr std::string_view kFailedAmidst =
    "s1: @[0,1] { w(x,1) } @[4,5] { r(x,1) } @[6,7] { w(y,1) }\n"
    "s2: @[2,3] { cas(x,1,2)! }\n";

TEST(Exhaustion, AcceptsWhatNoOrderExplains) {
  const History h = hist(kFailedAmidst);
  const Certificate c = exhausted("sser lin", key(h, "x"), 3);
  EXPECT_TRUE(verify(c, h).ok()) << verify(c, h).error().to_string();
}

TEST(Exhaustion, RefusesAnotherKeyAnotherEndAndOtherLevels) {
  const History h = hist(kFailedAmidst);
  EXPECT_FALSE(verify(exhausted("lin", key(h, "y"), 3), h).ok());
  EXPECT_FALSE(verify(exhausted("lin", key(h, "x"), 1), h).ok());
  EXPECT_FALSE(verify(exhausted("lin", 77, 3), h).ok());
  EXPECT_FALSE(verify(exhausted("ser", key(h, "x"), 3), h).ok());
}

TEST(Exhaustion, AnOperationOfUnknownOutcomeMayExplainIt) {
  const History h = hist(
      "s1: @[0,1] { w(x,1) } @[4,5] { r(x,1) }\n"
      "s2: @[2,3] { cas(x,1,2)! }\n"
      "s3: @[2,_] { w(x,3) }?\n"
      "s4: @[2,_] { w(x,1) }?\n");
  EXPECT_FALSE(verify(exhausted("lin", key(h, "x"), 2), h).ok());
}

TEST(Exhaustion, RefusesTransactionsOfSeveralOperationsAndUntimedHistories) {
  const History longer = hist(
      "s1: @[0,1] { w(x,1) } @[4,5] { r(x,1) r(y,null) }\n"
      "s2: @[2,3] { cas(x,1,2)! }\n");
  EXPECT_FALSE(verify(exhausted("lin", key(longer, "x"), 2), longer).ok());
  const History untimed = hist("s1: { w(x,1) } { cas(x,1,2)! } { r(x,1) }\n");
  EXPECT_FALSE(verify(exhausted("lin", key(untimed, "x"), 1), untimed).ok());
}

// Each response in turn finds many situations, most of which lead to the same; values that nobody
// asks for make no more of them.
TEST(Exhaustion, GoesThroughEachSituationOnce) {
  const auto overlapping = [](int writers, int asked) {
    std::string text;
    for (int i = 0; i < writers; ++i)
      text += "w" + std::to_string(i) + ": @[" + std::to_string(i) + "," + std::to_string(100 + i) +
              "] { w(x," + std::to_string(i) + ") }\n";
    for (int i = 0; i < asked; ++i)
      text += "r" + std::to_string(i) + ": @[200,300] { r(x," + std::to_string(i) + ") }\n";
    return text;
  };
  for (const auto& [writers, asked] : {std::pair(14, 14), std::pair(15, 2)}) {
    const History h = hist(overlapping(writers, asked));
    const auto second_read = static_cast<TxnId>(writers + 1);
    const Status verified = verify(exhausted("lin", key(h, "x"), second_read), h);
    EXPECT_TRUE(verified.ok()) << writers;
  }
}

// An insert that failed and one that took effect do not the same, so neither waits for the other.
TEST(Exhaustion, AFailedInsertDoesNotStandInForOneThatTookEffect) {
  const std::string both = "a: @[2,5] { ins(y,1)! }\nb: @[0,7] { ins(y,1) }\n";
  const History sound = hist(both + "c: @[8,9] { r(y,1) }\n");
  for (TxnId until = 0; until < 3; ++until)
    EXPECT_FALSE(verify(exhausted("lin", key(sound, "y"), until), sound).ok()) << until;
  const History stale = hist(both + "c: @[8,9] { r(y,null) }\n");
  EXPECT_TRUE(verify(exhausted("lin", key(stale, "y"), 2), stale).ok());
}

TEST(Exhaustion, SurvivesTheFile) {
  const History h = hist(kFailedAmidst);
  const CertificateFile file{h.content_hash(), {exhausted("lin", key(h, "x"), 3)}};
  const auto read = read_certificates(write_certificates(file, h), h, "c.json");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  ASSERT_EQ(read->certificates.size(), 1u);
  EXPECT_EQ(read->certificates[0].kind, Certificate::Kind::exhausted);
  EXPECT_EQ(read->certificates[0].exhausted.until, 3u);
  EXPECT_TRUE(verify(read->certificates[0], h).ok());
}

}  // namespace
}  // namespace assay::internal::certify
