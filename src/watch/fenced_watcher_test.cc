#include "watch/fenced_watcher.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/format.h"

namespace assay::internal::watch {
namespace {

class Told : public WatchListener {
 public:
  void alarm(Audit&&, const std::string& left_out) override { alarms.push_back(left_out); }
  void undecided(const Undecided& what) override { unknown.push_back(what.about); }
  std::vector<std::string> alarms, unknown;
};

std::shared_ptr<const History> lines_of(const std::string& text) {
  Result<ReadResult> read = read_history_text(text, "test", {.from = "assay"});
  EXPECT_TRUE(read.ok());
  return std::make_shared<const History>(std::move(read->history));
}

WatchOptions two_sessions() {
  WatchOptions o;
  o.level = LevelId::session_serializable;
  o.fence = "f";
  o.sessions = 2;
  return o;
}

TEST(FencedWatcher, DecidesWhatIsBeforeALaterFenceOfEverySession) {
  Told told;
  FencedWatcher watcher(two_sessions(), told);
  ASSERT_TRUE(watcher
                  .add(lines_of(R"({"session":1,"ops":[["w","x",1]]}
{"session":1,"ops":[["r","f",null],["w","f",1]]}
{"session":2,"ops":[["r","f",1],["w","f",2]]}
{"session":2,"ops":[["r","x",1]]}
)"))
                  .ok());
  ASSERT_TRUE(watcher.decide_sealed().ok());
  EXPECT_EQ(watcher.progress().decided, 0u) << "session 1 has done no fence behind its first";
  ASSERT_TRUE(
      watcher.add(lines_of("{\"session\":1,\"ops\":[[\"r\",\"f\",2],[\"w\",\"f\",3]]}\n")).ok());
  ASSERT_TRUE(watcher.decide_sealed().ok());
  EXPECT_EQ(watcher.progress().decided, 2u) << "the write and the fence that follows it";
  EXPECT_EQ(watcher.progress().buffered, 3u);
  ASSERT_TRUE(watcher.finish().ok());
  EXPECT_EQ(watcher.progress().decided, 5u);
  EXPECT_TRUE(told.alarms.empty() && told.unknown.empty());
}

// Whose outcome is settled waits for its session's next fence when that is said.
TEST(FencedWatcher, AnEventWaitsForThoseThatItSpeaksOf) {
  Told told;
  FencedWatcher watcher(two_sessions(), told);
  for (const char* line :
       {R"({"session":1,"txn":"A","status":"unknown","ops":[["w","x",1]]})",
        R"({"event":"settled","aborted":["A"]})", R"({"session":2,"txn":"B","ops":[["r","x",1]]})"})
    ASSERT_TRUE(watcher.add(lines_of(line + std::string("\n"))).ok());
  ASSERT_TRUE(watcher.finish().ok());
  EXPECT_EQ(told.alarms.size(), 1u) << "B read what was aborted";
}

TEST(FencedWatcher, EndsWhereNoFenceComes) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "{\"session\":1,\"ops\":[[\"r\",\"x\",null]]}\n";
  const std::shared_ptr<const History> piece = lines_of(text);
  Told told;
  FencedWatcher watcher(two_sessions(), told);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(watcher.add(piece).ok());
  const Status s = watcher.add(piece);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().kind, ErrorKind::bad_input);
  EXPECT_NE(s.error().message.find("wait for a fence"), std::string::npos);
}

}  // namespace
}  // namespace assay::internal::watch
