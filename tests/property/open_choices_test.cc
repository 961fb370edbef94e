// Reads that have several possible sources, at every kind of level.
#include <gtest/gtest.h>

#include <algorithm>

#include "assay/format.h"
#include "assay/verify.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

struct Decided {
  History history;
  CheckResult result;
  const Verdict& verdict() const { return result.verdicts[0]; }
  const Certificate& certificate() const { return result.certificates[verdict().certificate]; }
};

Decided decide(std::string_view text, LevelId level, const SpeedUps& speed_ups = {}) {
  Result<ReadResult> read = read_history_text(text, "test.hist");
  EXPECT_TRUE(read.ok()) << read.error().to_string();
  CheckOptions options;
  options.levels = {level};
  options.speed_ups = speed_ups;
  CheckResult result = decide_levels(read->history, options);
  for (const Certificate& certificate : result.certificates) {
    const Status status = verify(certificate, read->history);
    EXPECT_TRUE(status.ok()) << status.error().to_string();
  }
  return {std::move(read->history), std::move(result)};
}

size_t steps(const Certificate& c, ProofStep::Kind kind) {
  return static_cast<size_t>(std::count_if(c.proof.steps.begin(), c.proof.steps.end(),
                                           [&](const ProofStep& s) { return s.kind == kind; }));
}

TEST(Choices, AReadOfARepeatedValueGetsTheWriterThatFits) {
  // C overwrote A's 1 before D's session went on, so D read B's.
  const Decided d = decide(
      "s1: { w(x,1) w(z,1) }\n"
      "s2: { r(z,1) w(x,2) w(y,2) }\n"
      "s3: { r(y,2) w(x,1) }\n"
      "s4: { r(y,2) r(x,1) }\n",
      LevelId::serializable);
  ASSERT_EQ(d.verdict().outcome, Outcome::satisfied);
  EXPECT_EQ(d.certificate().order.events, (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(Choices, WhoeverItWasSomethingIsWrong) {
  const Decided d = decide(
      "s1: { w(x,1) w(y,1) }\n"
      "s2: { w(x,1) w(y,2) }\n"
      "s3: { r(x,1) r(y,null) }\n",
      LevelId::serializable);
  ASSERT_EQ(d.verdict().outcome, Outcome::violated);
  ASSERT_EQ(d.certificate().kind, Certificate::Kind::proof);
  EXPECT_GE(steps(d.certificate(), ProofStep::Kind::sources), 1u);
}

TEST(Choices, WhoIsSeenTookEffectAndItsReadsBind) {
  // If T3 read the 1 of T1, whose outcome is unknown, T1's read of y binds too, and T2's y came
  // first.
  const Decided d = decide(
      "s1: { r(y,1) w(x,1) }?\n"
      "s2: { w(x,1) w(y,1) }\n"
      "s3: { r(x,1) r(y,null) }\n",
      LevelId::serializable);
  ASSERT_EQ(d.verdict().outcome, Outcome::violated);
  EXPECT_GE(steps(d.certificate(), ProofStep::Kind::effect), 1u);
}

TEST(Choices, AnElementThatTwoAppendedIsWhoseItFits) {
  // E saw D's x and the list without the second 1; C saw both 1, and no x: whoever appended the
  // second one came between.
  constexpr std::string_view kFork =
      "s1: { a(l,1) }\n"
      "s2: { a(l,1) }\n"
      "s3: { r(l,[1,1]) r(x,null) }\n"
      "s4: { w(x,1) }\n"
      "s5: { r(l,[1]) r(x,1) }\n";
  for (const LevelId level : {LevelId::serializable, LevelId::session_si, LevelId::pl_3}) {
    const Decided d = decide(kFork, level);
    ASSERT_EQ(d.verdict().outcome, Outcome::violated) << level_info(level).name;
    EXPECT_GE(steps(d.certificate(), ProofStep::Kind::blocks), 1u);
  }
  for (const LevelId level : {LevelId::causal, LevelId::read_committed, LevelId::pl_2})
    EXPECT_EQ(decide(kFork, level).verdict().outcome, Outcome::satisfied) << level_info(level).name;
}

TEST(Choices, AnElementOfUnknownOutcomeIsInTheListOrNot) {
  const Decided needed = decide(
      "s1: { a(l,1) }\n"
      "s2: { r(y,5) a(l,1) }?\n"
      "s3: { r(l,[1,1]) w(y,5) }\n",
      LevelId::serializable);
  EXPECT_EQ(needed.verdict().outcome, Outcome::violated);  // who read y = 5 came later
  EXPECT_GE(steps(needed.certificate(), ProofStep::Kind::blocks), 1u);
  const Decided left_out = decide(
      "s1: { a(l,1) }\n"
      "s2: { r(y,5) a(l,1) }?\n"
      "s3: { r(l,[1]) w(y,6) }\n"
      "s4: { w(y,5) }\n",
      LevelId::serializable);
  EXPECT_EQ(left_out.verdict().outcome, Outcome::satisfied);
}

TEST(Choices, WhoMissedItsOwnElementsDidNotTakeEffect) {
  const Decided d = decide(
      "s1: { a(l,1) a(l,1) r(l,[1]) }?\n"
      "s2: { a(l,1) }\n"
      "s3: { r(l,[1,1,1]) }\n",
      LevelId::pl_2_plus);
  EXPECT_EQ(d.verdict().outcome, Outcome::violated);
  EXPECT_GE(steps(d.certificate(), ProofStep::Kind::blocks), 1u);
}

TEST(Choices, WhoIsStatedNotToBeTheSourceNeedNotHaveTakenEffect) {
  // The 1 is stated to be A's, which A overwrote; B, of unknown outcome, read what nobody wrote.
  const Decided d = decide(
      "s1: A { w(x,1) w(x,0) }\n"
      "s2: B { w(x,1) r(y,1) }?\n"
      "s3: { r(x,A=1) }\n",
      LevelId::read_committed);
  ASSERT_EQ(d.verdict().outcome, Outcome::violated);
  EXPECT_EQ(d.certificate().bad_read.anomaly, Anomaly::intermediate_read);
}

TEST(Choices, ListsThatContradictEachOther) {
  const Decided d = decide(
      "s1: { a(l,1) } { a(l,1) }\n"
      "s2: { a(l,2) }\n"
      "s3: { r(l,[1,1,2]) }\n"
      "s4: { r(l,[1,2]) }\n",
      LevelId::read_committed);
  EXPECT_EQ(d.verdict().outcome, Outcome::violated);
}

TEST(Choices, WhoIsNotNeededIsLeftOut) {
  const Decided d = decide(
      "s1: { r(y,7) w(x,1) }?\n"
      "s2: { w(x,1) }\n"
      "s3: { r(x,1) w(y,8) }\n"
      "s4: { w(y,7) }\n",
      LevelId::serializable);
  ASSERT_EQ(d.verdict().outcome, Outcome::satisfied);
  EXPECT_EQ(d.certificate().order.events.size(), 3u);
}

TEST(Choices, WhoIsNeededTakesEffect) {
  // The insert failed, and only T1 can have put something there.
  const Decided d = decide(
      "s1: { w(x,1) }?\n"
      "s2: { ins(x,2)! r(y,null) }\n"
      "s3: { w(x,3) w(y,1) }\n",
      LevelId::serializable);
  ASSERT_EQ(d.verdict().outcome, Outcome::satisfied);
  EXPECT_EQ(d.certificate().order.events, (std::vector<uint32_t>{0, 1, 2}));
}

TEST(Choices, AListedRangeIsAFact) {
  const Decided d = decide(
      "s1: { w(a,1) w(b,2) }\n"
      "s2: { range(a..c,[a=1,b=2]) w(d,1) }\n"
      "s3: { w(c,3) r(d,null) }\n",
      LevelId::serializable);
  ASSERT_EQ(d.verdict().outcome, Outcome::violated);
  EXPECT_EQ(d.certificate().kind, Certificate::Kind::proof);
}

// C saw A or B by x, and after that neither's y.
TEST(Choices, AtWeakLevelsTheSourceIsPartOfTheClaim) {
  const std::string writers = "s1: { w(x,1) w(y,1) }\ns2: { w(x,1) w(y,2) }\n";
  for (const LevelId level : {LevelId::read_committed, LevelId::read_atomic, LevelId::causal}) {
    const Decided late = decide(writers + "s3: { r(x,1) r(y,null) }\n", level);
    EXPECT_EQ(late.verdict().outcome, Outcome::violated) << level_info(level).name;
    EXPECT_EQ(steps(late.certificate(), ProofStep::Kind::sources), 1u);
  }
  const Decided early = decide(writers + "s3: { r(y,null) r(x,1) }\n", LevelId::read_committed);
  ASSERT_EQ(early.verdict().outcome, Outcome::satisfied);
  EXPECT_EQ(early.certificate().order.sources.size(), 1u);
}

// Which of the two its reads of x saw is chosen for each by itself, where that is allowed.
TEST(Choices, EachReadMayHaveItsOwnSource) {
  const std::string_view text =
      "s1: { w(x,1) w(y,1) }\n"
      "s2: { w(x,1) w(z,1) }\n"
      "s3: { r(x,1) r(y,1) r(x,1) r(z,1) r(y,1) }\n";
  EXPECT_EQ(decide(text, LevelId::read_committed).verdict().outcome, Outcome::satisfied);
  EXPECT_EQ(decide(text, LevelId::read_atomic).verdict().outcome, Outcome::satisfied);
}

// The unknown transaction was seen by who saw the 1 of x that is not s2's; then its own read of y
// binds.
TEST(Choices, AtWeakLevelsWhoIsSeenTookEffect) {
  const std::string_view text =
      "s1: { w(y,1) w(v,1) }\n"
      "s2: { r(y,1) w(x,1) }?\n"
      "s3: { w(x,1) w(u,1) }\n"
      "s4: { r(x,1) r(u,null) r(v,null) }\n";
  const Decided causal = decide(text, LevelId::causal);
  EXPECT_EQ(causal.verdict().outcome, Outcome::violated);
  EXPECT_GE(steps(causal.certificate(), ProofStep::Kind::effect), 1u);
  const Decided atomic = decide(text, LevelId::read_atomic);
  ASSERT_EQ(atomic.verdict().outcome, Outcome::satisfied);
  EXPECT_EQ(atomic.certificate().order.events.size(), 4u);
}

// Whoever it was had read from the reader.
TEST(Choices, AtAdyasLevelsToo) {
  const Decided d = decide(
      "s1: { r(y,5) w(x,1) }\n"
      "s2: { r(y,5) w(x,1) }\n"
      "s3: { r(x,1) w(y,5) }\n",
      LevelId::pl_2);
  ASSERT_EQ(d.verdict().outcome, Outcome::violated);
  EXPECT_EQ(steps(d.certificate(), ProofStep::Kind::sources), 1u);
  EXPECT_EQ(steps(d.certificate(), ProofStep::Kind::cycle), 2u);
}

TEST(Choices, SpeedUpsDoNotChangeTheVerdict) {
  const std::string_view text =
      "s1: { w(x,1) w(y,1) } { r(x,2) w(y,2) }\n"
      "s2: { r(y,1) w(x,2) } { r(x,1) w(z,1) }\n"
      "s3: { w(x,1) r(z,null) } { r(z,1) r(y,2) r(x,1) }\n";
  for (const LevelId level :
       {LevelId::read_committed, LevelId::monotonic_reads, LevelId::read_atomic, LevelId::causal,
        LevelId::prefix, LevelId::session_si, LevelId::serializable,
        LevelId::session_serializable}) {
    const Outcome expected = decide(text, level).verdict().outcome;
    EXPECT_NE(expected, Outcome::unknown);
    for (const SpeedUpInfo& each : all_speed_ups()) {
      SpeedUps speed_ups;
      speed_ups.leave_out(each.id);
      EXPECT_EQ(decide(text, level, speed_ups).verdict().outcome, expected);
    }
  }
}

}  // namespace
}  // namespace assay::internal
