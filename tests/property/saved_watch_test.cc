#include "watch/saved_watch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "assay/format.h"
#include "cases.h"
#include "collect/generate.h"
#include "collect/sink.h"
#include "formats/input.h"

namespace assay::internal::watch {
namespace {

class Deaf : public WatchListener {
 public:
  void alarm(Audit&&, const std::string&) override {}
  void undecided(const Undecided&) override {}
};

// Blind writes, unknown outcomes and a fault, so that everything that can be kept is.
std::string history() {
  collect::GenerateOptions options;
  options.level = LevelId::strict_serializable;
  options.bug = Anomaly::lost_update;
  options.bug_count = 1;
  options.sessions = 3;
  options.txns = 30;
  options.workload_options.keys = 6;
  options.unknown_share = 0.1;
  collect::HistorySink sink;
  EXPECT_TRUE(collect::generate(options, sink).ok());
  std::string text;
  EXPECT_TRUE(write_history_text(*sink.take(), "assay", text).ok());
  return text;
}

WatchOptions few() {
  WatchOptions o;
  o.sessions = 3;
  o.window = 8;
  o.keep = 16;
  return o;
}

class SavedWatch : public WatchListener {
 public:
  explicit SavedWatch(const std::string& text, WatchOptions options = few())
      : options_(options), input_(*formats::Input::memory(text, "test", nullptr)) {}

  void alarm(Audit&&, const std::string&) override {}
  void undecided(const Undecided&) override {}
  void sealed(const certify::Segment& segment) override { chain_.sealed(segment); }

  // As far as it goes; what is damaged may be refused.
  void read(size_t pieces) {
    for (; pieces > 0 && !over_; --pieces) {
      auto chunk = chunks_.next(10);
      ASSERT_TRUE(chunk.ok());
      over_ = chunk->end;
      const auto piece = std::make_shared<const History>(std::move(chunk->history));
      chain_.read(piece);
      over_ = over_ || !watcher_.add(piece).ok() || !watcher_.decide_sealed().ok();
    }
    if (over_) (void)watcher_.finish();
    if (over_) (void)chain_.end();
  }
  std::string save() { return *save_watch(parts()); }
  Status load(std::string_view saved) { return load_watch(saved, parts()); }
  size_t at() const { return static_cast<size_t>(input_.offset()); }

 private:
  WatchParts parts() { return {options_, watcher_, &chunks_, &chain_}; }

  WatchOptions options_;
  formats::Input input_;
  std::vector<ReadNote> notes_;
  formats::JsonlChunks chunks_{input_, notes_};
  VerifiedChain chain_{options_.level, nullptr};
  Watcher watcher_{options_, *this};
  bool over_ = false;
};

TEST(SavedWatch, IsTheSameWhenItIsSavedAgain) {
  const std::string text = history();
  SavedWatch first(text);
  first.read(4);
  const std::string saved = first.save();
  SavedWatch second(text);
  ASSERT_TRUE(second.load(saved).ok());
  EXPECT_EQ(second.save().size(), saved.size());
}

TEST(SavedWatch, OtherPromisesAreRefused) {
  const std::string text = history();
  SavedWatch first(text);
  const std::string saved = first.save();
  const auto refused = [&](WatchOptions options) {
    SavedWatch other(text, options);
    const Status s = other.load(saved);
    return s.ok() ? std::string() : s.error().message;
  };
  WatchOptions o = few();
  EXPECT_EQ(refused(o), "");
  o.keep = 100;
  EXPECT_EQ(refused(o), "");
  o.lateness = 5'000'000'000;
  EXPECT_EQ(refused(o), "expected --lateness 10s as before, and not 5s");
  o = few();
  o.sessions = 4;
  EXPECT_EQ(refused(o), "expected --sessions 3 as before, and not 4");
  o = few();
  o.settle = 1;
  EXPECT_EQ(refused(o), "expected --settle 30s as before, and not 1e-09s");
  o = few();
  o.level = LevelId::linearizable;
  EXPECT_EQ(refused(o), "expected --level strict-serializable as before, and not linearizable");
}

TEST(SavedWatch, NoCutTextIsTaken) {
  const std::string text = history();
  SavedWatch first(text);
  first.read(4);
  const std::string saved = first.save();
  for (size_t size = 0; size < saved.size(); ++size) {
    SavedWatch other(text);
    EXPECT_FALSE(other.load(std::string_view(saved).substr(0, size)).ok()) << size;
  }
}

// The digest of the file is about damage; whoever wrote it may have written anything.
TEST(SavedWatch, NoChangedTextDoesHarm) {
  const std::string text = history();
  SavedWatch first(text);
  first.read(4);
  const std::string saved = first.save();
  const std::string rest = text.substr(first.at());
  size_t taken = 0, changes = 0;
  const size_t step = saved.size() / scaled(saved.size() / 4, saved.size() / 40);
  for (size_t i = 0; i < saved.size(); i += step)
    for (const int change : {1, 2, 0x80}) {
      std::string changed = saved;
      changed[i] = static_cast<char>(changed[i] ^ change);
      ++changes;
      SavedWatch other(rest);
      if (!other.load(changed).ok()) continue;
      ++taken;
      other.read(100);
    }
  EXPECT_GT(taken, changes / 15);  // what is in keys and values
}

}  // namespace
}  // namespace assay::internal::watch
