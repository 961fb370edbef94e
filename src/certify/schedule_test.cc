#include "certify/schedule.h"

#include <gtest/gtest.h>

#include "certify/certificate_samples.h"
#include "certify/predictions.h"
#include "certify/schedule_verifier.h"

namespace assay::internal::certify {
namespace {

using What = Schedule::What;

const char* const kSkew =
    "s1: A { r(x,null) r(y,null) w(x,1) }\ns2: B { r(x,1) r(y,null) w(y,2) }\n";

// A takes its snapshot, B runs whole, and A goes on.
Schedule skew(Isolation isolation) {
  Schedule s;
  s.members = {{0, isolation}, {1, isolation}};
  s.events = {{What::step, 0},   {What::step, 1}, {What::step, 1}, {What::step, 1},
              {What::commit, 1}, {What::step, 0}, {What::step, 0}, {What::commit, 0}};
  s.cycle = {0, 1};
  return s;
}

std::string refusal(const Schedule& schedule, const char* history = kSkew) {
  const Status s = verify_schedule(schedule, hist(history));
  return s.ok() ? "" : s.error().message;
}

TEST(Schedule, RoundTrip) {
  const History h = hist(kSkew);
  const std::string text =
      write_predictions({{skew(Isolation::snapshot), skew(Isolation::ssi)}, {}}, h);
  EXPECT_TRUE(holds_predictions(text));
  EXPECT_FALSE(holds_predictions(write_certificates({h.content_hash(), {}}, h)));
  const auto read = read_predictions(text, h, "test");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(write_predictions(*read, h), text);
  EXPECT_FALSE(read_predictions(text, hist("s1: { w(x,1) }\n"), "test").ok());
}

TEST(Schedule, TheFileIsReadStrictly) {
  const History h = hist(kSkew);
  const std::string text = write_predictions({{skew(Isolation::snapshot)}, {}}, h);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto read = read_predictions(changed, h, "test");
    return read.ok() ? "" : read.error().to_string();
  };
  EXPECT_NE(with("snapshot-isolation", "snapshot").find("unknown word \"snapshot\""),
            std::string::npos);
  EXPECT_NE(with("\"cycle\":[0,1]", "\"circle\":[0,1]"), "");
  EXPECT_NE(with("[\"step\",0]", "[\"step\"]"), "");
}

TEST(Schedule, SnapshotsAllowWriteSkewAndSsiDoesNot) {
  EXPECT_EQ(refusal(skew(Isolation::snapshot)), "");
  EXPECT_EQ(refusal(skew(Isolation::prefix)), "");
  EXPECT_NE(refusal(skew(Isolation::ssi)).find("ssi refuses"), std::string::npos);
  // A reads y after B has committed.
  EXPECT_NE(refusal(skew(Isolation::read_committed)).find("place 0 of the cycle"),
            std::string::npos);
}

TEST(Schedule, WhoeverChangesARowLocksIt) {
  Schedule s = skew(Isolation::read_committed);
  s.events = {{What::step, 0}, {What::step, 1},   {What::step, 0},
              {What::step, 1}, {What::commit, 0}, {What::commit, 1}};
  const char* const updates = "s1: A { r(x,null) w(x,1) }\ns2: B { r(x,1) w(x,2) }\n";
  EXPECT_NE(refusal(s, updates).find("would have to wait for A"), std::string::npos);
  s.events = {{What::step, 0},   {What::step, 1}, {What::step, 1},
              {What::commit, 1}, {What::step, 0}, {What::commit, 0}};
  EXPECT_EQ(refusal(s, updates), "");
  for (auto& member : s.members) member.isolation = Isolation::snapshot;
  EXPECT_NE(refusal(s, updates).find("since its snapshot"), std::string::npos);
}

// Both read z FOR UPDATE first. At snapshot isolation A has its snapshot before it waits for B.
TEST(Schedule, RowsAreLockedToBeRead) {
  const auto read = [](const std::string& lock) {
    std::string text;
    for (const char* const session : {"1", "2"})
      text += std::string("{\"session\":") + session + R"(,"ops":[["r","z",null],["r","x",null],)" +
              R"(["r","y",null],["w",")" + (*session == '1' ? "x" : "y") +
              R"(",1]],"op_times":[1,2,3,4],"meta":{"sql":[{"sent":1,"locks":")" + lock +
              "\"}]}}\n";
    auto history = read_history_text(text, "test", {.from = "assay"});
    EXPECT_TRUE(history.ok());
    return std::move(history->history);
  };
  const auto answer = [&](const std::string& lock, Isolation isolation, What first) {
    Schedule s = skew(isolation);
    s.events = {{first, 0}};
    for (int i = 0; i < 4; ++i) s.events.push_back({What::step, 1});
    s.events.push_back({What::commit, 1});
    for (int i = first == What::step ? 1 : 0; i < 4; ++i) s.events.push_back({What::step, 0});
    s.events.push_back({What::commit, 0});
    const Status status = verify_schedule(s, read(lock));
    return status.ok() ? "" : status.error().message;
  };
  EXPECT_NE(answer("update", Isolation::snapshot, What::step).find("wait for"), std::string::npos);
  EXPECT_EQ(answer("share", Isolation::snapshot, What::step), "");
  EXPECT_EQ(answer("update", Isolation::snapshot, What::begin), "");
  EXPECT_EQ(answer("update", Isolation::prefix, What::step), "");
  EXPECT_NE(answer("update", Isolation::read_committed, What::begin).find("does not begin"),
            std::string::npos);
}

// B's change of y reads z, which A has locked and nobody changes.
TEST(Schedule, InnodbWaitsForRowsThatAreLockedToBeRead) {
  const auto history = read_history_text(
      R"({"session":1,"ops":[["r","z",null],["w","x",1]],"op_times":[1,2],)"
      R"("meta":{"sql":[{"sent":1,"locks":"update"}]}})"
      "\n"
      R"({"session":2,"ops":[["r","x",1],["r","z",null],["w","y",1]],"op_times":[1,2,2]})",
      "test", {.from = "assay"});
  ASSERT_TRUE(history.ok());
  Schedule s = skew(Isolation::innodb_repeatable_read);
  s.events = {{What::step, 0}, {What::step, 1}, {What::step, 1}};
  const Status status = verify_schedule(s, history->history);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("which has locked z"), std::string::npos)
      << status.error().message;
}

TEST(Schedule, WhatIsNoScheduleIsRefused) {
  const auto changed = [](auto change) {
    Schedule s = skew(Isolation::snapshot);
    change(s);
    return refusal(s);
  };
  EXPECT_NE(changed([](Schedule& s) { s.cycle.clear(); }), "");
  EXPECT_NE(changed([](Schedule& s) { s.cycle = {0, 0}; }), "");
  EXPECT_NE(changed([](Schedule& s) { s.cycle = {0, 7}; }), "");
  EXPECT_NE(changed([](Schedule& s) { s.events.pop_back(); }), "");
  EXPECT_NE(changed([](Schedule& s) { s.events.push_back({What::step, 0}); }), "");
  EXPECT_NE(changed([](Schedule& s) { s.events.front().member = 9; }), "");
  EXPECT_NE(changed([](Schedule& s) { s.members[1].txn = 0; }), "");
  EXPECT_NE(changed([](Schedule& s) { s.members[1].txn = 9; }), "");
  EXPECT_NE(changed([](Schedule& s) { std::swap(s.events[1], s.events[4]); }), "");
  EXPECT_NE(
      refusal(skew(Isolation::snapshot),
              "s1: A { r(x,null) r(y,null) w(x,1) }!\ns2: B { r(x,null) r(y,null) w(y,2) }\n"),
      "");
}

TEST(Schedule, AQueryDependsOnWhatChangesItsRows) {
  Schedule s = skew(Isolation::snapshot);
  s.events = {{What::step, 0},   {What::step, 1}, {What::step, 1},
              {What::commit, 1}, {What::step, 0}, {What::commit, 0}};
  EXPECT_EQ(refusal(s, "s1: A { p(value > 5,[]) w(x,7) }\ns2: B { p(value > 5,[x=7]) w(y,8) }\n"),
            "");
  // B's row does not satisfy the condition.
  EXPECT_NE(refusal(s, "s1: A { p(value > 5,[]) w(x,7) }\ns2: B { p(value > 5,[x=7]) w(y,4) }\n"),
            "");
}

TEST(Schedule, ARowThatIsGoneIsNotFound) {
  Schedule s = skew(Isolation::read_committed);
  s.events = {
      {What::step, 0}, {What::step, 1}, {What::commit, 1}, {What::step, 0}, {What::commit, 0}};
  EXPECT_NE(refusal(s, "initial x: 1\ns1: A { r(x,1) d(x,2) }\ns2: B { d(x,3) }\n")
                .find("would not find x"),
            std::string::npos);
  EXPECT_NE(
      refusal(s, "s1: A { r(x,null) ins(x,2) }\ns2: B { w(x,3) }\n").find("would not insert x"),
      std::string::npos);
}

}  // namespace
}  // namespace assay::internal::certify
