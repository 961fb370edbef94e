#include "watch/watcher.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/format.h"

namespace assay::internal::watch {
namespace {

class Heard : public WatchListener {
 public:
  void alarm(Audit&& violation, const std::string& left_out) override {
    std::string text;
    EXPECT_TRUE(write_history_text(violation.history, "hist", text).ok());
    histories.push_back(text);
    alarms.push_back(left_out);
  }
  void undecided(const Undecided& what) override { unknown.push_back(what.about); }

  std::vector<std::string> alarms, unknown, histories;
};

std::shared_ptr<const History> lines(const std::string& text) {
  Result<ReadResult> read = read_history_text(text, "test", {.from = "assay"});
  EXPECT_TRUE(read.ok());
  return std::make_shared<const History>(std::move(read->history));
}

std::string line(int session, int number, int64_t begin, int64_t end, const std::string& ops,
                 const std::string& status = "committed") {
  return R"({"session":)" + std::to_string(session) + R"(,"txn":")" + std::to_string(session) +
         "-" + std::to_string(number) + R"(","status":")" + status + R"(","begin":)" +
         std::to_string(begin) + R"(,"end":)" + std::to_string(end) + R"(,"ops":[)" + ops + "]}\n";
}

// Each text is a piece; a decision follows each.
Heard watch_pieces(WatchOptions options, const std::vector<std::string>& pieces) {
  Heard heard;
  options.window = 1;
  Watcher watcher(options, heard);
  for (const std::string& text : pieces) {
    EXPECT_TRUE(watcher.add(lines(text)).ok());
    EXPECT_TRUE(watcher.decide_sealed().ok());
  }
  EXPECT_TRUE(watcher.finish().ok());
  return heard;
}

WatchOptions prompt() {
  WatchOptions o;
  o.lateness = 20;
  return o;
}

// Two writers who overlapped are put into one order; a read says later that it was the other one. A
// window after the state that the first order left is rejected, and must not raise an alarm.
const std::vector<std::string> kOtherOrder = {
    line(1, 0, 0, 10, R"(["w","x",1],["w","z",1])") +
        line(2, 0, 0, 10, R"(["w","x",2],["w","z",2])"),
    line(1, 1, 100, 110, R"(["w","y",1])"),
    line(2, 1, 200, 210, R"(["w","y",2])"),
};

std::vector<std::string> read_later(const std::string& x) {
  std::vector<std::string> pieces = kOtherOrder;
  pieces.push_back(line(1, 2, 300, 310, R"(["r","x",)" + x + "]"));
  return pieces;
}

TEST(Watcher, TakesBackAChoice) {
  for (const char* x : {"1", "2"}) {
    const Heard heard = watch_pieces(prompt(), read_later(x));
    EXPECT_TRUE(heard.alarms.empty()) << x;
    EXPECT_TRUE(heard.unknown.empty()) << x;
  }
}

TEST(Watcher, RaisesNoAlarmOnWhatItAssumedOfThePast) {
  WatchOptions options = prompt();
  options.keep = 0;
  size_t unknown = 0;
  for (const char* x : {"1", "2"}) {
    const Heard heard = watch_pieces(options, read_later(x));
    EXPECT_TRUE(heard.alarms.empty()) << x;
    unknown += heard.unknown.size();
  }
  EXPECT_EQ(unknown, 1u);  // of one of the two
}

// Nothing but x tells the two orders apart, so both are kept open.
TEST(Watcher, KeepsRivals) {
  WatchOptions options = prompt();
  options.keep = 0;
  const auto after = [&](const std::string& reads) {
    return watch_pieces(
        options, {line(1, 0, 0, 10, R"(["w","x",1],["w","z",1])") +
                      line(2, 0, 0, 10, R"(["w","x",2],["w","v",2])"),
                  line(1, 1, 100, 110, R"(["w","y",1])"), line(2, 1, 200, 210, R"(["w","y",2])"),
                  line(1, 2, 300, 310, reads), line(1, 3, 400, 410, R"(["r","z",1],["r","v",2])")});
  };
  for (const char* x : {"1", "2"}) {
    const Heard heard = after(std::string(R"(["r","x",)") + x + "]");
    EXPECT_TRUE(heard.alarms.empty() && heard.unknown.empty()) << x;
  }
  EXPECT_EQ(after(R"(["r","x",3])").unknown.size(), 1u);
}

// Session 1 is before 3, which wrote z after it was read. So x = 1, which has 2 before 1, and y =
// 1, which has 3 before 2, exclude each other, though either could be.
TEST(Watcher, RivalsThatExcludeEachOtherAreNotBothTaken) {
  const auto after = [](size_t keep, const std::string& reads) {
    WatchOptions options = prompt();
    options.keep = keep;
    return watch_pieces(options,
                        {line(1, 0, 0, 10, R"(["r","z",null],["w","x",1])") +
                             line(2, 0, 0, 10, R"(["w","x",2],["w","y",1])") +
                             line(3, 0, 0, 10, R"(["w","z",1],["w","y",2])"),
                         line(4, 0, 100, 110, R"(["w","v",1])"), line(4, 1, 200, 210, reads)});
  };
  for (const char* reads : {R"(["r","x",1],["r","y",2])", R"(["r","x",2],["r","y",1])"}) {
    const Heard heard = after(100, reads);
    EXPECT_TRUE(heard.alarms.empty() && heard.unknown.empty()) << reads;
  }
  EXPECT_EQ(after(100, R"(["r","x",1],["r","y",1])").alarms.size(), 1u);
  EXPECT_EQ(after(0, R"(["r","x",1],["r","y",1])").unknown.size(), 1u);
}

TEST(Watcher, TimesOfASessionDoNotRunBackwards) {
  Heard heard;
  Watcher watcher({}, heard);
  ASSERT_TRUE(watcher.add(lines(line(1, 0, 100, 110, R"(["w","x",1])"))).ok());
  const Status s = watcher.add(lines(line(1, 1, 50, 60, R"(["r","x",null])")));
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().kind, ErrorKind::bad_input);
}

// What it saw is gone when its effect is seen, and all that came in between is forgotten. s2 saw y
// = 1, wrote x = 5 and z = 6, and its outcome is unknown; nothing is kept but the state. `between`:
// lines before y is overwritten, `then`: what is done afterwards, one after the other.
Heard after_unknown(const std::string& between, const std::vector<std::string>& then) {
  WatchOptions options = prompt();
  options.keep = 0;
  std::vector<std::string> pieces = {
      line(1, 0, 0, 10, R"(["w","y",1])"),
      line(2, 0, 20, 30, R"(["r","y",1],["w","x",5],["w","z",6])", "unknown")};
  if (!between.empty()) pieces.push_back(between);
  pieces.push_back(line(1, 1, 60, 70, R"(["w","y",2])"));
  for (int i = 0; const std::string& ops : then) {
    pieces.push_back(line(1, 2 + i, 160 + 100 * i, 170 + 100 * i, ops));
    ++i;
  }
  return watch_pieces(options, pieces);
}

void expect_nothing_said(const Heard& heard, const std::string& of) {
  EXPECT_TRUE(heard.alarms.empty() && heard.unknown.empty()) << of;
}

// Nothing tells when it may have begun, so that what came before it has no place in time that is
// certainly earlier.
TEST(Watcher, WhoWaitsMayHaveNoTime) {
  const std::string without_time =
      R"({"session":1,"txn":"1-0","status":"unknown","ops":[["w","u",1]]})"
      "\n";
  const Heard heard = watch_pieces(prompt(), {without_time, line(2, 0, 0, 10, R"(["w","x",1])"),
                                              line(2, 1, 100, 110, R"(["w","y",1])"),
                                              line(2, 2, 200, 210, R"(["r","x",1],["r","u",null])"),
                                              line(2, 3, 300, 310, R"(["r","x",1],["r","u",1])")});
  EXPECT_TRUE(heard.alarms.empty());
  EXPECT_TRUE(heard.unknown.empty());
}

TEST(Watcher, AnEffectOfUnknownOutcomeIsSeenLate) {
  const auto after = [](const std::string& reads) {
    return after_unknown("", {R"(["w","v",1])", reads, R"(["r","y",2])"});
  };
  for (const char* reads :
       {R"(["r","x",5],["r","z",6])", R"(["r","x",5])", R"(["r","x",null],["r","z",null])"})
    expect_nothing_said(after(reads), reads);
  // All of it took effect, or nothing.
  EXPECT_EQ(after(R"(["r","x",5],["r","z",null])").unknown.size(), 1u);
}

// Who overwrites one of its keys without a look tells nothing of the other.
TEST(Watcher, AnEffectIsSeenThoughPartOfItIsOverwritten) {
  for (const char* reads : {R"(["r","x",5],["r","z",1])", R"(["r","x",null],["r","z",1])"})
    expect_nothing_said(after_unknown("", {R"(["w","z",1])", reads, R"(["r","z",1])"}), reads);
}

// s3 wrote x as well, and the reader saw the one or the other.
TEST(Watcher, TwoEffectsOnOneKeyAreSeenLate) {
  const std::string other = line(3, 0, 40, 50, R"(["r","y",1],["w","x",7],["w","v",8])", "unknown");
  for (const char* reads :
       {R"(["r","x",5],["r","z",6])", R"(["r","x",7],["r","v",8])", R"(["r","x",7],["r","z",6])",
        R"(["r","x",null])", R"(["r","v",8],["r","z",6])"})
    expect_nothing_said(after_unknown(other, {R"(["w","u",1])", reads, R"(["r","y",2])"}), reads);
}

// What it deleted was put first, without harm; but it may as well have come between the last write
// and the read.
TEST(Watcher, AWriteOfUnknownOutcomeThatIsSettledMayComeLater) {
  std::vector<std::string> pieces = {line(1, 0, 0, 10, R"(["r","x",null])") +
                                     line(2, 0, 0, 10, R"(["d","x",9])", "unknown")};
  const char* ops[] = {R"(["cas","x",null,1,true])", R"(["w","x",2])", R"(["r","x",null])"};
  for (int i = 0; i < 3; ++i)
    pieces.push_back(line(1, 1 + i, 100 * (i + 1), 100 * (i + 1) + 10, ops[i]));
  WatchOptions options = prompt();
  options.settle = 10'000;
  const Heard heard = watch_pieces(options, pieces);
  EXPECT_TRUE(heard.alarms.empty());
}

TEST(Watcher, OneFaultIsOneAlarm) {
  const Heard heard = watch_pieces(
      prompt(),
      {line(1, 0, 0, 10, R"(["w","x",1])"), line(1, 1, 20, 30, R"(["w","x",2])"),
       line(2, 0, 40, 50, R"(["r","x",1],["w","y",7])"),
       line(1, 2, 60, 70, R"(["r","x",2],["r","y",7],["w","x",3])"),
       line(2, 1, 80, 90, R"(["r","x",3],["w","y",8])"), line(1, 3, 160, 170, R"(["r","y",8])")});
  ASSERT_EQ(heard.alarms, std::vector<std::string>{"2-0"});
  EXPECT_TRUE(heard.unknown.empty());
  EXPECT_EQ(heard.histories[0],
            "1: @[0,10] { w(x,1) } @[20,30] { w(x,2) }\n2: @[40,50] { r(x,1) w(y,7) }\n");
}

// Nobody at hand wrote x = 7, and that proves nothing. y = 5 is read when its writer, who was left
// out, is forgotten.
TEST(Watcher, WhoeverSeesWhatWasLeftOutIsExcused) {
  WatchOptions options = prompt();
  options.keep = 0;
  const Heard heard = watch_pieces(
      options,
      {line(1, 0, 0, 10, R"(["w","x",1])"), line(2, 0, 100, 110, R"(["r","x",7],["w","y",5])"),
       line(1, 1, 200, 210, R"(["w","z",1])"), line(1, 2, 300, 310, R"(["w","z",2])"),
       line(3, 0, 400, 410, R"(["r","y",5],["w","z",3])"), line(1, 3, 500, 510, R"(["r","z",3])")});
  EXPECT_TRUE(heard.alarms.empty());
  EXPECT_EQ(heard.unknown, std::vector<std::string>{"2-0"});
}

TEST(Watcher, AReadWaitsForItsWriterToBeReported) {
  const Heard heard = watch_pieces(
      prompt(), {line(1, 0, 100, 105, R"(["r","x",5])"), line(2, 0, 90, 110, R"(["w","x",5])"),
                 line(1, 1, 200, 210, R"(["r","x",5])")});
  EXPECT_TRUE(heard.alarms.empty());
  EXPECT_TRUE(heard.unknown.empty());
}

TEST(Watcher, UnknownOutcomesSettle) {
  WatchOptions options = prompt();
  options.keep = 0;
  options.settle = 100;
  std::vector<std::string> pieces = {
      line(1, 0, 0, 10, R"(["w","x",1])") + line(2, 0, 5, 15, R"(["w","x",9])", "unknown"),
      line(1, 1, 20, 30, R"(["w","y",1])"), line(1, 2, 60, 70, R"(["r","x",9])")};
  // Read in time: it took effect.
  EXPECT_TRUE(watch_pieces(options, pieces).unknown.empty());
  // Read after it had been given up: nobody knows whose it is.
  pieces[2] = line(1, 2, 300, 310, R"(["w","y",2])");
  pieces.push_back(line(1, 3, 400, 410, R"(["w","y",3])"));
  pieces.push_back(line(1, 4, 500, 510, R"(["r","x",9])"));
  const Heard late = watch_pieces(options, pieces);
  EXPECT_TRUE(late.alarms.empty());
  EXPECT_EQ(late.unknown, std::vector<std::string>{"1-4"});
}

TEST(Watcher, ALateLineIsDecidedFromWhatIsKept) {
  const std::vector<std::string> pieces = {
      line(1, 0, 0, 10, R"(["w","x",1])"), line(1, 1, 100, 110, R"(["w","x",2])"),
      line(1, 2, 200, 210, R"(["w","x",3])"), line(2, 0, 20, 30, R"(["r","x",1])")};
  EXPECT_TRUE(watch_pieces(prompt(), pieces).unknown.empty());
  WatchOptions options = prompt();
  options.keep = 0;
  EXPECT_EQ(watch_pieces(options, pieces).unknown, std::vector<std::string>{"2-0"});
}

TEST(Watcher, HeartbeatsMoveTheMark) {
  WatchOptions options;
  options.sessions = 2;
  Heard heard;
  Watcher watcher(options, heard);
  ASSERT_TRUE(
      watcher.add(lines(line(1, 0, 0, 10, R"(["w","x",1])") + line(2, 0, 0, 12, R"(["w","x",2])")))
          .ok());
  ASSERT_TRUE(watcher.decide_sealed().ok());
  EXPECT_EQ(watcher.progress().buffered, 2u);  // session 1 may have begun again at 10
  ASSERT_TRUE(watcher
                  .add(lines(R"({"event":"heartbeat","session":1,"at":20})"
                             "\n"
                             R"({"event":"end","session":2})"
                             "\n"))
                  .ok());
  ASSERT_TRUE(watcher.decide_sealed().ok());
  EXPECT_EQ(watcher.progress().buffered, 0u);
}

TEST(Watcher, MemoryHoldsWhatIsKeptAndTheLiveKeys) {
  WatchOptions options = prompt();
  options.keep = 50;
  Heard heard;
  Watcher watcher(options, heard);
  for (int i = 0; i < 2000; ++i) {
    const int64_t at = 100 * i;
    const std::string key = R"("k)" + std::to_string(i % 7) + '"';
    ASSERT_TRUE(
        watcher.add(lines(line(1, i, at, at + 10, "[\"w\"," + key + "," + std::to_string(i) + "]")))
            .ok());
    if (i % 10 != 0) continue;
    ASSERT_TRUE(watcher.decide_sealed().ok());
  }
  EXPECT_LT(watcher.progress().kept, 100u);
  EXPECT_EQ(watcher.progress().live_keys, 7u);
  ASSERT_TRUE(watcher.finish().ok());
  EXPECT_EQ(watcher.progress().decided, 2000u);
  EXPECT_TRUE(heard.alarms.empty() && heard.unknown.empty());
}

TEST(Watcher, RefusesWhatItDoesNotDecide) {
  EXPECT_FALSE(can_watch({.level = LevelId::session_si}).ok());
  EXPECT_TRUE(can_watch({.level = LevelId::linearizable}).ok());
  Heard heard;
  Watcher watcher({}, heard);
  EXPECT_FALSE(watcher.add(lines(line(1, 0, 0, 1, R"(["append","l",1])"))).ok());
  EXPECT_FALSE(watcher
                   .add(lines(R"({"session":1,"ops":[["w","x",1]]})"
                              "\n"))
                   .ok());
  EXPECT_FALSE(watcher.add(lines("{\"key\":\"x\",\"order\":[1,2]}\n")).ok());
}

// --- what an event "settled" says of earlier pieces

std::string did_not_commit(const std::string& name) {
  return R"({"event":"settled","aborted":[")" + name + "\"]}\n";
}

// Read from before the event comes, when its effect is in the order that is settled.
TEST(Watcher, WhoReadWhatIsSettledAsAbortedIsAnAlarm) {
  const std::vector<std::string> read = {
      line(1, 0, 0, 10, R"(["w","x",1])"),    line(2, 0, 20, 30, R"(["w","x",5])", "unknown"),
      line(1, 1, 40, 50, R"(["r","x",5])"),   line(1, 2, 100, 110, R"(["w","y",1])"),
      line(1, 3, 200, 210, R"(["w","y",2])"),
  };
  EXPECT_TRUE(watch_pieces(prompt(), read).alarms.empty());
  for (size_t at = 3; at <= read.size(); ++at) {
    std::vector<std::string> pieces = read;
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(at), did_not_commit("2-0"));
    const Heard heard = watch_pieces(prompt(), pieces);
    EXPECT_EQ(heard.alarms, std::vector<std::string>{"1-1"}) << at;
    EXPECT_TRUE(heard.unknown.empty()) << at;
  }
}

// It is late, or waits, or is known to have had no effect: whoever reads it afterwards has read
// what was aborted.
TEST(Watcher, WhatIsSettledAsAbortedIsNotReadLater) {
  const std::vector<std::string> written = {
      line(1, 0, 0, 10, R"(["w","x",1])"),    line(2, 0, 20, 30, R"(["w","x",5])", "unknown"),
      line(1, 1, 100, 110, R"(["w","y",1])"), line(1, 2, 200, 210, R"(["w","y",2])"),
      line(1, 3, 300, 310, R"(["r","x",5])"), line(1, 4, 400, 410, R"(["w","y",3])"),
  };
  EXPECT_TRUE(watch_pieces(prompt(), written).alarms.empty());
  for (size_t at = 2; at <= 4; ++at) {
    std::vector<std::string> pieces = written;
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(at), did_not_commit("2-0"));
    const Heard heard = watch_pieces(prompt(), pieces);
    EXPECT_EQ(heard.alarms, std::vector<std::string>{"1-3"}) << at;
    EXPECT_TRUE(heard.unknown.empty()) << at;
  }
}

TEST(Watcher, NobodyNamedByAnEventMayBeCommitted) {
  Heard heard;
  Watcher watcher(prompt(), heard);
  ASSERT_TRUE(watcher.add(lines(line(1, 0, 0, 10, R"(["w","x",1])"))).ok());
  const Status s = watcher.add(lines(did_not_commit("1-0")));
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().message,
            "1-0 is committed, and an event \"settled\" says that it did not commit");
  EXPECT_TRUE(watcher.add(lines(did_not_commit("7-7"))).ok());
}

}  // namespace
}  // namespace assay::internal::watch
