#include "watch/fence_clock.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/format.h"

namespace assay::internal::watch {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

std::string line(int session, const std::string& ops, const std::string& rest = "") {
  return R"({"session":)" + std::to_string(session) + rest + R"(,"ops":[)" + ops + "]}\n";
}
std::string fence(int session, const std::string& read, int written, const std::string& rest = "") {
  return line(session, R"(["r","f",)" + read + R"(],["w","f",)" + std::to_string(written) + "]",
              rest);
}

std::shared_ptr<const History> piece(const std::string& text) {
  Result<ReadResult> read = read_history_text(text, "test", {.from = "assay"});
  EXPECT_TRUE(read.ok());
  return std::make_shared<const History>(std::move(read->history));
}

// What is known by now, each as "session-number from until" in milliseconds.
std::vector<std::string> times(FenceClock& clock) {
  std::vector<std::string> all;
  for (const FenceClock::Timed& t : clock.take()) {
    const std::string until = t.until == Interval::kOpen
                                  ? "open"
                                  : std::to_string(static_cast<double>(t.until) / kMillisecond);
    all.push_back(t.piece->name(t.txn) + " " + std::to_string(t.from / kMillisecond) + " " +
                  until.substr(0, until.find('.')));
  }
  return all;
}
using Shown = std::vector<std::string>;

TEST(FenceClock, ATransactionRanBetweenTheFencesOfItsSession) {
  FenceClock clock("f");
  clock.add(piece(fence(1, "null", 1, R"(,"txn":"F1")") +
                  line(1, R"(["w","x",1])", R"(,"txn":"A")") +
                  line(2, R"(["r","x",1])", R"(,"txn":"B")") + fence(2, "1", 2, R"(,"txn":"F2")")));
  EXPECT_EQ(times(clock), (Shown{"F1 1 1", "B 0 2", "F2 2 2"}));
  EXPECT_EQ(clock.waiting(), 1u);
  EXPECT_EQ(clock.first_waiting(), 1u);
  clock.add(piece(fence(1, "2", 3, R"(,"txn":"F3")")));
  EXPECT_EQ(times(clock), (Shown{"A 1 3", "F3 3 3"}));
  EXPECT_EQ(clock.first_waiting(), FenceClock::kNoneWaits);
}

TEST(FenceClock, AFenceWaitsForTheOneThatItReadFrom) {
  FenceClock clock("f");
  clock.add(piece(fence(2, "1", 2, R"(,"txn":"F2")") + fence(3, "2", 3, R"(,"txn":"F3")")));
  EXPECT_EQ(times(clock), Shown{});
  clock.add(piece(fence(1, "null", 1, R"(,"txn":"F1")")));
  EXPECT_EQ(times(clock), (Shown{"F1 1 1", "F2 2 2", "F3 3 3"}));
}

TEST(FenceClock, OneOfUnknownOutcomeLeadsOnAndBoundsNothing) {
  FenceClock clock("f");
  clock.add(piece(fence(1, "null", 1, R"(,"txn":"F1")") +
                  fence(1, "1", 2, R"(,"txn":"F2","status":"unknown")") +
                  fence(2, "2", 3, R"(,"txn":"F3")")));
  EXPECT_EQ(times(clock), (Shown{"F1 1 1", "F3 3 3"}));
  EXPECT_EQ(clock.waiting(), 1u);
}

TEST(FenceClock, OfTwoThatReadTheSameTheSecondIsNoBound) {
  FenceClock clock("f");
  clock.add(piece(fence(1, "null", 1, R"(,"txn":"F1")") + fence(2, "1", 2, R"(,"txn":"F2")") +
                  fence(1, "1", 3, R"(,"txn":"again")") + fence(1, "3", 4, R"(,"txn":"F4")")));
  EXPECT_EQ(times(clock), (Shown{"F1 1 1", "F2 2 2", "again 1 3", "F4 3 3"}));
}

// The session was at the second fence before it was at the first: a violation, for which nobody
// needs a bound.
TEST(FenceClock, AnEarlierFenceThanTheLastOneOfItsSessionIsNoBound) {
  FenceClock clock("f");
  clock.add(piece(fence(2, "null", 1, R"(,"txn":"F1","status":"unknown")") +
                  fence(1, "1", 2, R"(,"txn":"F2")") + fence(1, "null", 3, R"(,"txn":"back")")));
  EXPECT_EQ(times(clock), (Shown{"F2 2 2"}));
  EXPECT_EQ(clock.waiting(), 2u);
}

TEST(FenceClock, TheTimesAreThoseOfClientsWhereTheseRise) {
  FenceClock clock("f");
  const std::string at_seven = R"(,"begin":7000000,"end":8000000)";
  const std::string at_five = R"(,"begin":5000000,"end":9000000)";
  clock.add(piece(fence(1, "null", 1, at_seven + R"(,"txn":"F1")") +
                  fence(2, "1", 2, at_five + R"(,"txn":"F2")")));
  const std::vector<FenceClock::Timed> timed = clock.take();
  ASSERT_EQ(timed.size(), 2u);
  EXPECT_EQ(timed[0].until, 7 * kMillisecond);
  EXPECT_EQ(timed[1].until, 7 * kMillisecond + 1) << "behind the first, whatever the clock says";
}

TEST(FenceClock, WhatASessionDidAfterItsLastFenceHasNoEnd) {
  FenceClock clock("f");
  clock.add(piece(fence(1, "null", 1, R"(,"txn":"F1")") +
                  line(1, R"(["r","f",1])", R"(,"txn":"A")") +
                  line(2, R"(["w","f",9])", R"(,"txn":"B")")));
  EXPECT_EQ(times(clock), (Shown{"F1 1 1"})) << "neither a read nor a write alone is a fence";
  clock.end(ValueView::of(int64_t{1}));
  EXPECT_EQ(times(clock), (Shown{"A 1 open"}));
  clock.end_all();
  EXPECT_EQ(times(clock), (Shown{"B 0 open"}));
}

}  // namespace
}  // namespace assay::internal::watch
