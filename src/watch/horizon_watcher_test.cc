#include "watch/horizon_watcher.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "formats/assay_jsonl_chunks.h"
#include "formats/input.h"

namespace assay::internal::watch {
namespace {

class HorizonHeard : public WatchListener {
 public:
  void alarm(Audit&& violation, const std::string& left_out) override {
    alarms.push_back(left_out + " " + std::to_string(violation.history.txn_count()));
  }
  void undecided(const Undecided& what) override { unknown.push_back(what.about); }

  std::vector<std::string> alarms, unknown;
};

using Texts = std::vector<std::string>;

std::string txn(const std::string& name, const std::string& ops,
                const std::string& status = "committed", int session = 0) {
  return R"({"session":")" + (session == 0 ? name : std::to_string(session)) + R"(","txn":")" +
         name + R"(","status":")" + status + R"(","ops":[)" + ops + "]}\n";
}

// A piece a line.
HorizonHeard watch_text(LevelId level, size_t horizon, const std::string& text) {
  HorizonHeard heard;
  HorizonWatcher watcher({.level = level, .horizon = horizon}, heard);
  Result<formats::Input> input = formats::Input::memory(text, "test", nullptr);
  std::vector<ReadNote> notes;
  formats::JsonlChunks chunks(*input, notes);
  for (bool end = false; !end;) {
    auto chunk = chunks.next(1);
    EXPECT_TRUE(chunk.ok());
    if (!chunk.ok()) return heard;
    end = chunk->end;
    const Status s = watcher.add(std::make_shared<const History>(std::move(chunk->history)));
    EXPECT_TRUE(s.ok()) << s.error().to_string();
  }
  EXPECT_TRUE(watcher.finish().ok());
  EXPECT_EQ(watcher.progress().buffered, 0u);
  return heard;
}

const std::string kLostUpdate = txn("A", R"(["w","x",1])") +
                                txn("B", R"(["r","x",1],["w","x",2])") +
                                txn("C", R"(["r","x",1],["w","x",3])");

TEST(HorizonWatcher, SeesWhatLiesWithinTheHorizon) {
  EXPECT_EQ(watch_text(LevelId::serializable, 3, kLostUpdate).alarms, Texts{"C 3"});
  EXPECT_TRUE(watch_text(LevelId::serializable, 1, kLostUpdate).alarms.empty());
  EXPECT_TRUE(watch_text(LevelId::read_committed, 3, kLostUpdate).alarms.empty());
}

TEST(HorizonWatcher, TellsOneFaultOnce) {
  // In the first window and in the second one.
  std::string text = txn("Y", R"(["w","y",1])") + kLostUpdate;
  for (int i = 0; i < 10; ++i) text += txn("z" + std::to_string(i), R"(["r","x",3])");
  EXPECT_EQ(watch_text(LevelId::serializable, 3, text).alarms, Texts{"C 3"});
}

TEST(HorizonWatcher, ReadsOfAbortedWritesNeedBoth) {
  const std::string wrote = txn("A", R"(["w","x",1])", "aborted");
  const std::string read = txn("B", R"(["r","x",1])");
  const std::string between = txn("C", R"(["w","y",1])") + txn("D", R"(["w","y",2])");
  EXPECT_EQ(watch_text(LevelId::read_committed, 1, wrote + read).alarms.size(), 1u);
  EXPECT_TRUE(watch_text(LevelId::read_committed, 1, wrote + between + read).alarms.empty());
  EXPECT_EQ(watch_text(LevelId::read_committed, 2, wrote + between + read).alarms.size(), 1u);
}

// Nobody wrote it: somebody beyond the window may have, unless there is nobody.
TEST(HorizonWatcher, ReadsFromNowhereCountWhereAllIsKept) {
  const std::string read = txn("B", R"(["r","x",1])");
  const std::string more = txn("C", R"(["w","y",1])") + txn("D", R"(["w","y",2])");
  EXPECT_EQ(watch_text(LevelId::read_committed, 2, read).alarms.size(), 1u);
  EXPECT_TRUE(watch_text(LevelId::read_committed, 1, read + more).alarms.empty());
}

// A forgotten transaction may have written what B and C read.
TEST(HorizonWatcher, ValuesWrittenTwiceAreToldOnce) {
  std::string text = txn("A", R"(["w","x",1])") + txn("A2", R"(["w","x",1])", "aborted") +
                     txn("B", R"(["r","x",1])") + txn("C", R"(["r","x",1])");
  for (int i = 0; i < 8; ++i)
    text += txn("z" + std::to_string(i), R"(["w","z",)" + std::to_string(i) + "]");
  const HorizonHeard heard = watch_text(LevelId::read_committed, 2, text);
  EXPECT_TRUE(heard.alarms.empty());
  EXPECT_EQ(heard.unknown, Texts{"r(x,1) of B"});
}

// C's x is absent as it was at first, though it saw A's y; unless some transaction may have deleted
// it.
TEST(HorizonWatcher, AbsenceProvesNothingOnceSomebodyDeletes) {
  const std::string fractured =
      txn("A", R"(["w","x",1],["w","y",1])") + txn("C", R"(["r","y",1],["r","x",null])");
  std::string after;
  for (int i = 0; i < 4; ++i)
    after += txn("z" + std::to_string(i), R"(["w","z",)" + std::to_string(i) + "]");
  EXPECT_EQ(watch_text(LevelId::read_atomic, 1, fractured + after).alarms.size(), 1u);
  const std::string deletes = txn("D", R"(["d","x",9])") + txn("E", R"(["w","u",1])");
  EXPECT_TRUE(watch_text(LevelId::read_atomic, 1, deletes + fractured + after).alarms.empty());
}

// Its outcome never came. In the order of the lines of its session it would stand after the one
// that read it.
TEST(HorizonWatcher, OneGivenUpLateHasNoPlaceInItsSession) {
  const std::string text = txn("A", R"(["w","x",1])", "pending", 1) +
                           txn("B", R"(["r","x",1],["w","y",1])", "committed", 1) +
                           txn("C", R"(["w","u",1])") + txn("D", R"(["w","u",2])");
  EXPECT_TRUE(watch_text(LevelId::causal, 2, text).alarms.empty());
}

TEST(HorizonWatcher, RefusesWhatItDoesNotDecide) {
  HorizonHeard heard;
  HorizonWatcher watcher({.level = LevelId::causal, .horizon = 2}, heard);
  const std::string text = txn("A", R"(["append","x",1])");
  Result<ReadResult> read = read_history_text(text, "test", {.from = "assay"});
  ASSERT_TRUE(read.ok());
  const Status s = watcher.add(std::make_shared<const History>(std::move(read->history)));
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().message, "watching does not support lists");
}

}  // namespace
}  // namespace assay::internal::watch
