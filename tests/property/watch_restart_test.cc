// A watcher that is ended at any moment and goes on from what it saved says what it would have said
// (watch/saved_watch.h).
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "base/byte_stream.h"
#include "base/rng.h"
#include "cases.h"
#include "certify/chain.h"
#include "certify/chain_verifier.h"
#include "collect/generate.h"
#include "collect/sink.h"
#include "oracle/random_draft.h"
#include "watch/saved_watch.h"
#include "watch/watcher.h"
#include "watched_lines.h"

namespace assay::internal::watch {
namespace {

// What was said, in order, and what of it a watcher that goes on has to know.
struct Said {
  std::vector<std::string> lines;
  std::vector<std::string> chain;
  std::vector<Omission> left_out;
  int alarms = 0, unknown = 0;
  uint64_t decided = 0;  // behind a gap
};

class Sink : public ChainSink {
 public:
  Status write(const std::string& line) override { return lines.push_back(line), Ok{}; }
  std::vector<std::string> lines;
};

// A watcher with its reader of lines and its chain: a process of its own, which has the memory of
// nothing but `said`.
class Process : public WatchListener {
 public:
  Process(const WatchOptions& options, const std::string& text, Said& said)
      : options_(options),
        said_(said),
        input_(*formats::Input::memory(text, "test", nullptr)),
        chain_(options.level, &sink_),
        watcher_(options_, *this) {}

  void alarm(Audit&&, const std::string& left_out) override {
    ++said_.alarms;
    said_.lines.push_back("alarm " + left_out);
  }
  void undecided(const Undecided& what) override {
    ++said_.unknown;
    said_.lines.push_back("unknown " + what.about + what.reason);
  }
  void left_out(const Omission& one) override { said_.left_out.push_back(one); }
  void sealed(const certify::Segment& segment) override { chain_.sealed(segment); }

  // The next lines. False at the end.
  bool read(size_t lines, bool decide) {
    EXPECT_TRUE(chunks_.give_up_before(watcher_.overdue()).ok());
    auto chunk = chunks_.next(lines);
    EXPECT_TRUE(chunk.ok()) << chunk.error().to_string();
    const auto piece = std::make_shared<const History>(std::move(chunk->history));
    chain_.read(piece);
    const Status added = watcher_.add(piece);
    EXPECT_TRUE(added.ok()) << added.error().to_string();
    if (decide) {
      EXPECT_TRUE(watcher_.decide_sealed().ok());
    }
    return !chunk->end;
  }
  void finish() {
    EXPECT_TRUE(watcher_.finish().ok());
    const Status s = chain_.end();
    EXPECT_TRUE(s.ok()) << s.error().to_string();
    take_chain();
  }

  struct Saved {
    std::string bytes;
    uint64_t offset = 0, line = 0;
    size_t segments = 0;
  };
  Saved save() {
    const Result<std::string> bytes = save_watch(parts());
    EXPECT_TRUE(bytes.ok()) << bytes.error().to_string();
    take_chain();
    return {*bytes, input_.offset(), input_.line(), said_.chain.size()};
  }
  void load(const Saved& saved) {
    const Status s = load_watch(saved.bytes, parts());
    EXPECT_TRUE(s.ok()) << s.error().to_string();
    input_.begins_at(saved.offset, saved.line);
  }
  // Goes on from what was saved of a pipe.
  void load_of_pipe(const std::string& saved) {
    const Status s = load_watch(saved, {options_, watcher_});
    EXPECT_TRUE(s.ok()) << s.error().to_string();
    watcher_.note_loss();
  }
  std::string save_of_pipe() { return *save_watch({options_, watcher_}); }
  void finish_of_pipe() { EXPECT_TRUE(watcher_.finish().ok()); }
  void know(const Omission& one) { watcher_.note_reported(one); }
  Progress progress() { return watcher_.progress(); }

 private:
  WatchParts parts() { return {options_, watcher_, &chunks_, &chain_}; }
  void take_chain() {
    for (std::string& line : sink_.lines) said_.chain.push_back(std::move(line));
    sink_.lines.clear();
  }

  WatchOptions options_;
  Said& said_;
  formats::Input input_;
  std::vector<ReadNote> notes_;
  formats::JsonlChunks chunks_{input_, notes_};
  Sink sink_;
  VerifiedChain chain_;
  Watcher watcher_;
};

struct Drawn {
  WatchOptions options;
  std::string text;
  // Of each piece: how many lines, and whether all is decided after it.
  std::vector<std::pair<size_t, bool>> pieces;
};

Drawn drawn(const History& h, const WatchCase& c, Rng& rng) {
  Drawn d;
  const std::vector<TxnId> order = as_reported(h, rng, c.late ? 40 : 3);
  d.options = watch_options(h, order, c, rng);
  d.text = Pieces(h, order).text();
  for (size_t i = 0; i < order.size() + 2; ++i)
    d.pieces.emplace_back(1 + rng.below(3), rng.below(3) == 0);
  return d;
}

Said uninterrupted(const Drawn& d) {
  Said said;
  Process p(d.options, d.text, said);
  for (size_t i = 0; i < d.pieces.size() && p.read(d.pieces[i].first, d.pieces[i].second);) ++i;
  p.finish();
  return said;
}

// Ended after pieces drawn at random, when all is saved.
Said ended(const Drawn& d, Rng& rng) {
  Said said;
  // The text that an input is of has to stay.
  std::vector<std::unique_ptr<std::string>> texts;
  texts.push_back(std::make_unique<std::string>(d.text));
  auto p = std::make_unique<Process>(d.options, *texts.back(), said);
  for (const auto& [lines, decide] : d.pieces) {
    if (!p->read(lines, decide)) break;
    if (rng.below(2) != 0) continue;
    const Process::Saved saved = p->save();
    const Progress before = p->progress();
    texts.push_back(std::make_unique<std::string>(d.text.substr(saved.offset)));
    p = std::make_unique<Process>(d.options, *texts.back(), said);
    p->load(saved);
    EXPECT_EQ(p->progress().decided, before.decided);
    EXPECT_EQ(p->progress().kept, before.kept);
    EXPECT_EQ(p->progress().buffered, before.buffered);
    EXPECT_EQ(p->progress().live_keys, before.live_keys);
  }
  p->finish();
  return said;
}

// Killed at moments drawn at random, some pieces after all was saved: what was said in between
// stays said.
Said killed(const Drawn& d, Rng& rng) {
  Said said;
  std::vector<std::unique_ptr<std::string>> texts;
  texts.push_back(std::make_unique<std::string>(d.text));
  auto p = std::make_unique<Process>(d.options, *texts.back(), said);
  Process::Saved saved = p->save();
  size_t told = 0, next = 0, at = 0;
  for (int kills = 0; next < d.pieces.size();) {
    const auto& [lines, decide] = d.pieces[next++];
    if (!p->read(lines, decide)) break;
    if (rng.below(3) == 0) {
      saved = p->save();
      told = said.left_out.size();
      at = next;
    }
    if (rng.below(4) != 0 || ++kills > 20) continue;
    texts.push_back(std::make_unique<std::string>(d.text.substr(saved.offset)));
    p = std::make_unique<Process>(d.options, *texts.back(), said);
    p->load(saved);
    said.chain.resize(saved.segments);
    for (size_t i = told; i < said.left_out.size(); ++i) p->know(said.left_out[i]);
    next = at;
  }
  p->finish();
  return said;
}

// Beside the whole, as `assay verify` does it.
void expect_chain(const Said& said, LevelId level, const std::string& text) {
  certify::ChainReader reader;
  Result<certify::ChainVerifier> verifier = certify::ChainVerifier::of(level);
  Result<formats::Input> input = formats::Input::memory(text, "test", nullptr);
  std::vector<ReadNote> notes;
  formats::JsonlChunks chunks(*input, notes);
  for (bool end = false; !end;) {
    auto chunk = chunks.next(100);
    ASSERT_TRUE(chunk.ok());
    end = chunk->end;
    ASSERT_TRUE(verifier->read(std::make_shared<const History>(std::move(chunk->history))).ok());
  }
  for (size_t i = 0; i < said.chain.size(); ++i) {
    const std::string_view line =
        std::string_view(said.chain[i]).substr(0, said.chain[i].size() - 1);
    if (i == 0) {
      ASSERT_TRUE(reader.header(line).ok());
      continue;
    }
    const auto item = reader.next(line);
    ASSERT_TRUE(item.ok()) << item.error().to_string() << line;
    const auto* end = std::get_if<certify::ChainEnd>(&*item);
    ASSERT_EQ(end != nullptr, i + 1 == said.chain.size());
    const Status s =
        end != nullptr ? verifier->end(*end) : verifier->accept(std::get<certify::Segment>(*item));
    ASSERT_TRUE(s.ok()) << s.error().to_string() << line;
  }
}

struct Restarts {
  uint64_t histories = 0, alarms = 0;
};

// run(history, its verdict, what was drawn)
Restarts each_history(const WatchCase& c, const RandomShape& shape, uint64_t seed,
                      const std::function<int(Outcome, const Drawn&, Rng&)>& run) {
  Rng rng(rotated(seed));
  Restarts compared;
  for (uint64_t i = 0, all = histories(300, 50); i < all && !::testing::Test::HasFailure(); ++i) {
    const Draft draft = random_draft(rng, shape);
    const Result<History> whole = draft.history();
    if (!whole.ok() || !can_be_watched(*whole, c.level)) continue;
    CheckOptions checking;
    checking.levels = {c.level};
    const Outcome plain = check(*whole, checking).verdicts.at(0).outcome;
    if (plain == Outcome::unknown) continue;
    const Drawn d = drawn(*whole, c, rng);
    ++compared.histories;
    compared.alarms += static_cast<uint64_t>(run(plain, d, rng));
    if (::testing::Test::HasFailure())
      std::cout << "case " << i << " of seed " << seed << "\n" << d.text;
  }
  std::cout << compared.histories << " histories, " << compared.alarms << " alarms\n";
  EXPECT_GT(compared.alarms, compared.histories / 20);
  return compared;
}

void expect_the_same(const WatchCase& c, const RandomShape& shape, uint64_t seed) {
  each_history(c, shape, seed, [&](Outcome, const Drawn& d, Rng& rng) {
    const Said whole = uninterrupted(d), parts = ended(d, rng);
    EXPECT_EQ(parts.lines, whole.lines);
    EXPECT_EQ(parts.chain, whole.chain);
    expect_chain(parts, c.level, d.text);
    return whole.alarms;
  });
}

// What is decided again may be decided in other windows, so the unknown may differ.
void expect_no_fault(const WatchCase& c, const RandomShape& shape, uint64_t seed) {
  each_history(c, shape, seed, [&](Outcome plain, const Drawn& d, Rng& rng) {
    const Said said = killed(d, rng);
    const bool told = c.late && said.unknown > 0;
    EXPECT_FALSE(said.alarms > 0 && plain == Outcome::satisfied && !told) << "a false alarm";
    EXPECT_FALSE(said.alarms == 0 && said.unknown == 0 && plain == Outcome::violated)
        << "a violation was missed";
    std::vector<uint64_t> lines;
    for (const Omission& one : said.left_out)
      if (one.alarm) lines.push_back(one.line);
    std::ranges::sort(lines);
    EXPECT_TRUE(std::ranges::adjacent_find(lines) == lines.end()) << "an alarm was raised twice";
    expect_chain(said, c.level, d.text);
    return said.alarms;
  });
}

void each_case(void (*expect)(const WatchCase&, const RandomShape&, uint64_t), uint64_t seed) {
  expect({}, watched_shape(0, 0.3), seed);
  expect({.late = true}, watched_shape(0, 0.3), seed + 1);
  expect({.forgetful = true}, watched_shape(0, 0.3), seed + 2);
  expect({.repeated = true, .forgetful = true}, watched_shape(1, 0.3), seed + 3);
  expect({.repeated = true, .late = true, .forgetful = true}, watched_shape(0.5, 0.3), seed + 4);
  RandomShape single = watched_shape(0.2, 0.3);
  single.single_op = 1;
  expect({.level = LevelId::linearizable, .repeated = true, .forgetful = true}, single, seed + 5);
}

// What stood in some lines between two pieces is lost, and so is where they stood.
Said with_gap(const Drawn& d, Rng& rng) {
  Said said;
  Process first(d.options, d.text, said);
  size_t next = 0;
  for (const size_t last = rng.below(4); next <= last; ++next)
    if (!first.read(d.pieces[next].first, d.pieces[next].second)) break;
  const size_t at = first.save().offset;
  std::string rest = d.text.substr(std::min(d.text.size(), at));
  for (size_t lost = rng.below(12); lost > 0; --lost) rest.erase(0, rest.find('\n') + 1);
  rest = d.text.substr(0, d.text.find('\n') + 1) + rest;  // the header
  Process second(d.options, rest, said);
  second.load_of_pipe(first.save_of_pipe());
  while (second.read(1 + rng.below(3), rng.below(3) == 0)) {
  }
  second.finish_of_pipe();
  said.decided = second.progress().decided - first.progress().decided;
  return said;
}

void expect_no_false_alarm(const WatchCase& c, const RandomShape& shape, uint64_t seed) {
  each_history(c, shape, seed, [&](Outcome plain, Drawn d, Rng& rng) {
    d.options.lateness = 1 + static_cast<int64_t>(rng.below(30));
    d.options.settle = 50;
    const Said said = with_gap(d, rng);
    EXPECT_FALSE(said.alarms > 0 && plain == Outcome::satisfied) << "a false alarm";
    EXPECT_GT(said.unknown, 0);
    return said.alarms;
  });
}

TEST(WatchRestart, GoesOnWhereItStood) { each_case(expect_the_same, 100); }
// 4-0 and 1-0 may each have left x. 3-2 asks for the one, of unknown outcome and so in no order:
// that decides nothing, and 3-0, who saw the other, has no place before somebody looks.
TEST(WatchRestart, LeavesOpenWhoCameLastWhileNobodyLooks) {
  Drawn d;
  d.text = R"({"assay":1,"initial":0}
{"session":1,"txn":"1-0","status":"committed","begin":5,"end":11,"ops":[["w","x",2],["w","x",0]]}
{"session":1,"txn":"1-1","status":"aborted","begin":12,"end":14,"ops":[["w","x",1]]}
{"session":4,"txn":"4-0","status":"committed","begin":0,"end":6,"ops":[["w","x",1],["r","x",1],["w","x",2]]}
{"session":3,"txn":"3-0","status":"unknown","begin":3,"ops":[["r","x",0],["w","x",2],["r","x",2]]}
{"session":3,"txn":"3-1","status":"aborted","begin":13,"end":18,"ops":[["w","x",4],["w","x",5]]}
{"session":1,"txn":"1-2","status":"committed","begin":15,"end":22,"ops":[["w","x",0],["w","x",1],["r","x",1]]}
{"session":2,"txn":"2-0","status":"aborted","begin":1,"end":8,"ops":[["w","x",1]]}
{"session":1,"txn":"1-3","status":"aborted","begin":25,"end":31,"ops":[["w","x",7]]}
{"session":4,"txn":"4-1","status":"aborted","begin":11,"end":19,"ops":[["w","x",3]]}
{"session":3,"txn":"3-2","status":"unknown","begin":18,"end":26,"ops":[["r","x",2]]}
{"session":3,"txn":"3-3","status":"committed","begin":27,"end":30,"ops":[["r","x",1],["w","x",6],["r","x",6],["r","x",6]]}
)";
  d.options.window = 3;
  d.options.keep = 2;
  d.options.lateness = 12;
  d.options.settle = int64_t{1} << 60;
  for (size_t lines = 1; lines <= 4; ++lines) {
    d.pieces.assign(12, {lines, false});
    const Said said = uninterrupted(d);
    expect_chain(said, d.options.level, d.text);
    EXPECT_EQ(said.alarms, 0);
  }
}
TEST(WatchRestart, RaisesNoFalseAlarmBehindAGapOfAPipe) {
  RandomShape shape = watched_shape(0, 0.3);
  shape.max_txns = 30;
  expect_no_false_alarm({}, shape, 300);
}
Result<History> generated(const collect::GenerateOptions& options) {
  collect::HistorySink sink;
  if (auto s = collect::generate(options, sink); !s.ok()) return s.error();
  return sink.take();
}

// Of a database that keeps its promise, so that whatever seems wrong is so because of what is lost.
TEST(WatchRestart, RaisesNoAlarmBehindAGapOfASoundHistory) {
  Rng rng(rotated(301));
  uint64_t decided = 0;
  for (uint64_t seed = 1, all = scaled(60); seed <= all; ++seed) {
    collect::GenerateOptions options;
    // Compare-and-sets that fail are explained by writes of any value, so also by lost ones.
    const bool single = seed % 2 == 0;
    options.level = single ? LevelId::linearizable : LevelId::strict_serializable;
    if (single) options.workload = "lwt";
    options.seed = seed;
    options.sessions = 6;
    options.txns = 60;
    options.unknown_share = 0.02;
    options.workload_options.keys = 12;
    options.workload_options.ops = single ? 1 : 3;
    const Result<History> h = generated(options);
    ASSERT_TRUE(h.ok());
    const std::vector<TxnId> order = as_reported(*h, rng, 0);
    Drawn d;
    d.options.level = options.level;
    d.options.lateness = slowest(*h, order);
    d.options.settle = d.options.lateness;
    d.options.window = 10;
    d.text = Pieces(*h, order).text();
    for (int i = 0; i < 5; ++i) d.pieces.emplace_back(1 + rng.below(20), rng.below(2) == 0);
    const Said said = with_gap(d, rng);
    EXPECT_EQ(said.alarms, 0) << "seed " << seed;
    decided += said.decided;
  }
  EXPECT_GT(decided, 100u);
  std::cout << decided << " decided behind a gap\n";
}

TEST(WatchRestart, LosesNothingOfAFileWhenItIsKilled) { each_case(expect_no_fault, 200); }

// So long that many of unknown outcome have a place in what is forgotten and are moved by what is
// kept, which is taken back when a watcher learns what the one before it had left out.
TEST(WatchRestart, LosesNothingOfALongFileWhenItIsKilled) {
  Rng rng(rotated(302));
  int alarms = 0;
  for (uint64_t seed = 1, all = scaled(60); seed <= all; ++seed) {
    collect::GenerateOptions options;
    options.level = LevelId::strict_serializable;
    options.bug = Anomaly::lost_update;
    options.bug_count = 5;
    options.seed = seed;
    options.sessions = 6;
    options.txns = 200;
    options.unknown_share = 0.02;
    options.workload_options.keys = 60;
    options.workload_options.ops = 4;
    const Result<History> h = generated(options);
    ASSERT_TRUE(h.ok());
    const std::vector<TxnId> order = as_reported(*h, rng, 0);
    Drawn d;
    d.options.lateness = slowest(*h, order);
    d.options.settle = 4 * d.options.lateness;
    d.options.window = 20;
    d.options.keep = 100;
    d.text = Pieces(*h, order).text();
    for (size_t lines = 0; lines < order.size() + 50; lines += d.pieces.back().first)
      d.pieces.emplace_back(1 + rng.below(50), rng.below(2) == 0);
    const Said said = killed(d, rng);
    expect_chain(said, d.options.level, d.text);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    alarms += said.alarms;
  }
  EXPECT_GT(alarms, 0);
  std::cout << alarms << " alarms\n";
}

}  // namespace
}  // namespace assay::internal::watch
