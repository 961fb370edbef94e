// Watching a history in pieces never comes to another verdict than checking the whole (watch/watcher.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "assay/check.h"
#include "assay/format.h"
#include "base/rng.h"
#include "cases.h"
#include "certify/chain.h"
#include "certify/chain_verifier.h"
#include "formats/assay_jsonl_chunks.h"
#include "formats/input.h"
#include "history/copy.h"
#include "history/random_draft.h"
#include "watch/watcher.h"

namespace assay::internal::watch {
namespace {

class Count : public WatchListener {
 public:
  void alarm(Audit&& violation, const std::string&) override {
    ++alarms;
    last = violation.history.txn_count() > 0 ? text(violation.history) : "";
    const Verdict* v = violation.result.find(violation.requested.at(0));
    EXPECT_TRUE(v != nullptr && v->outcome == Outcome::violated);
  }
  void undecided(const Undecided& what) override {
    ++unknown;
    if (std::getenv("ASSAY_VERBOSE") != nullptr)
      std::cout << what.about << ": " << what.reason << "\n";
  }
  void sealed(const certify::Segment& segment) override { segments.push_back(segment); }
  int alarms = 0, unknown = 0;
  std::string last;  // the history of the last alarm
  std::vector<certify::Segment> segments;

 private:
  static std::string text(const History& h) {
    std::string out;
    EXPECT_TRUE(write_history_text(h, "hist", out).ok());
    return out;
  }
};

struct Case {
  LevelId level = LevelId::strict_serializable;
  bool repeated = false;   // values
  bool late = false;       // lines come later than is stated
  bool forgetful = false;  // little is kept
};

bool can_be_watched(const History& h, LevelId level) {
  for (OpId i = 0; i < h.op_count(); ++i)
    if (h.op(i).kind == OpKind::range || h.op(i).kind == OpKind::append ||
        h.op(i).kind == OpKind::read_list)
      return false;
  for (TxnId t = 0; t < h.txn_count(); ++t)
    if (level_info(level).single_operations && h.end_op(t) - h.first_op(t) != 1) return false;
  return h.fully_timed() && h.known_orders().empty() && !h.states_sources();
}

int64_t reported_at(const History& h, TxnId t) {
  const Interval begin = h.begin_time(t), end = h.end_time(t);
  if (end.known() && end.response != Interval::kOpen) return end.response;
  return begin.known() ? begin.request : 0;
}

// The lines as they are written: by the time of their ends, those of a session in its order.
std::vector<TxnId> as_reported(const History& h, Rng& rng, int64_t jitter) {
  std::vector<int64_t> at(h.txn_count());
  for (SessionId s = 0; s < h.session_count(); ++s) {
    int64_t before = Interval::kUnknown;
    for (const TxnId t : h.session_txns(s))
      before = at[t] =
          std::max(before, reported_at(h, t) + static_cast<int64_t>(rng.below(jitter + 1)));
  }
  std::vector<TxnId> order(h.txn_count());
  std::iota(order.begin(), order.end(), TxnId{0});
  std::ranges::stable_sort(order, {}, [&](TxnId t) { return at[t]; });
  return order;
}

// How long after its begin the slowest transaction is reported.
int64_t slowest(const History& h, const std::vector<TxnId>& order) {
  int64_t now = Interval::kUnknown, most = 0;
  for (const TxnId t : order) {
    const Interval begin = h.begin_time(t);
    now = std::max(now, reported_at(h, t));
    if (begin.known()) most = std::max(most, now - begin.request);
  }
  // One that begins before all that was reported.
  return most + 1;
}

// Whether nothing of a session begins before the transaction before it has ended.
bool one_after_the_other(const History& h) {
  for (SessionId s = 0; s < h.session_count(); ++s) {
    int64_t ended = Interval::kUnknown;
    for (const TxnId t : h.session_txns(s)) {
      if (!h.begin_time(t).known() || h.begin_time(t).request < ended) return false;
      ended = std::max(ended, reported_at(h, t));
    }
  }
  return true;
}

// The lines, a few at a time, each time as a piece.
class Pieces {
 public:
  Pieces(const History& h, const std::vector<TxnId>& order)
      : text_(written(h, order)), input_(*formats::Input::memory(text_, "test", nullptr)) {}

  // Null at the end.
  std::shared_ptr<const History> next(size_t lines) {
    if (ended_) return nullptr;
    auto chunk = chunks_.next(lines);
    EXPECT_TRUE(chunk.ok()) << chunk.error().to_string() << text_;
    if (!chunk.ok()) return nullptr;
    ended_ = chunk->end;
    return std::make_shared<const History>(std::move(chunk->history));
  }

  const std::string& text() const { return text_; }

 private:
  static std::string written(const History& h, const std::vector<TxnId>& order) {
    HistoryBuilder all;
    TxnCopier copier(all);
    all.set_initial(h.initial());
    if (h.absent_is_never_written()) all.set_absent_is_never_written();
    for (const TxnId t : order) {
      copier.begin(h, t);
      for (OpId op = h.first_op(t); op < h.end_op(t); ++op) copier.operation(h, op);
      EXPECT_TRUE(all.end_txn().ok());
    }
    std::string text;
    EXPECT_TRUE(write_history_text(*std::move(all).finish(), "assay", text).ok());
    return text;
  }

  std::string text_;
  formats::Input input_;
  std::vector<ReadNote> notes_;
  formats::JsonlChunks chunks_{input_, notes_};
  bool ended_ = false;
};

// Beside the same lines, cut otherwise.
void expect_verified(const Count& count, LevelId level, Pieces& pieces, Rng& rng) {
  certify::ChainReader reader;
  Result<certify::ChainVerifier> verifier = certify::ChainVerifier::of(level);
  ASSERT_TRUE(verifier.ok());
  certify::ChainWriter writer(level);
  std::string header = writer.header();
  header.pop_back();
  ASSERT_TRUE(reader.header(header).ok());
  uint64_t transactions = 0;
  while (const auto piece = pieces.next(1 + rng.below(5))) {
    transactions += piece->txn_count();
    ASSERT_TRUE(verifier->read(piece).ok());
  }
  for (const certify::Segment& segment : count.segments) {
    std::string line = writer.segment(segment);
    line.pop_back();
    const auto read = reader.next(line);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const Status s = verifier->accept(std::get<certify::Segment>(*read));
    ASSERT_TRUE(s.ok()) << s.error().to_string() << "\n" << line;
  }
  const Status s = verifier->end({transactions});
  ASSERT_TRUE(s.ok()) << s.error().to_string();
}

Count watched(const History& h, const Case& c, Rng& rng) {
  const std::vector<TxnId> order = as_reported(h, rng, c.late ? 40 : 3);
  WatchOptions options;
  options.level = c.level;
  options.lateness = slowest(h, order);
  if (c.late) options.lateness = options.lateness / 2 + 1;
  if (rng.below(2) == 0 && (c.late || one_after_the_other(h))) options.sessions = h.session_count();
  options.settle = c.repeated || rng.below(2) == 0 ? int64_t{1} << 60 : 50;
  options.window = 1 + rng.below(4);
  options.keep = c.forgetful ? rng.below(4) : 4096;
  Count count;
  Watcher watcher(options, count);
  Pieces pieces(h, order);
  while (const auto piece = pieces.next(1 + rng.below(3))) {
    const Status added = watcher.add(piece);
    EXPECT_TRUE(added.ok()) << added.error().to_string();
    if (rng.below(3) != 0) continue;
    EXPECT_TRUE(watcher.decide_sealed().ok());
  }
  EXPECT_TRUE(watcher.finish().ok());
  EXPECT_EQ(watcher.progress().buffered, 0u);
  Pieces again(h, order);
  expect_verified(count, c.level, again, rng);
  if (::testing::Test::HasFailure()) std::cout << again.text();
  return count;
}

// The share of the histories that are decided.
double compare(const Case& c, const RandomShape& shape, uint64_t seed) {
  Rng rng(seed);
  uint64_t compared = 0, decided = 0, violated = 0;
  for (uint64_t i = 0, all = histories(400); i < all; ++i) {
    const Draft draft = random_draft(rng, shape);
    const Result<History> whole = draft.history();
    if (!whole.ok() || !can_be_watched(*whole, c.level)) continue;
    CheckOptions checking;
    checking.levels = {c.level};
    const Outcome plain = check(*whole, checking).verdicts.at(0).outcome;
    if (plain == Outcome::unknown) continue;
    const Count count = watched(*whole, c, rng);
    // An alarm that rests on lines which come too late is told of by these.
    const bool told = c.late && count.unknown > 0;
    EXPECT_FALSE(count.alarms > 0 && plain == Outcome::satisfied && !told)
        << "a sound history raised an alarm, case " << i << " of seed " << seed << "\n"
        << draft.text() << "by\n"
        << count.last;
    EXPECT_FALSE(count.alarms == 0 && count.unknown == 0 && plain == Outcome::violated)
        << "a violation was missed, case " << i << " of seed " << seed << "\n"
        << draft.text();
    ++compared;
    if (plain == Outcome::violated) ++violated;
    if (count.alarms > 0 || count.unknown == 0) ++decided;
    if (::testing::Test::HasFailure()) break;
  }
  const double share =
      static_cast<double>(decided) / static_cast<double>(std::max<uint64_t>(1, compared));
  std::cout << compared << " histories, " << violated << " violated, decided " << 100 * share
            << " %\n";
  EXPECT_GT(violated, compared / 20);
  EXPECT_LT(violated, compared);
  return share;
}

RandomShape shape(double duplicates, double rich) {
  RandomShape s;
  s.max_txns = 12;
  s.timed = 1;
  s.drifting = 0;
  s.duplicates = duplicates;
  s.rich = rich;
  s.single_op = 0;
  s.unknown = 0.3;
  return s;
}

TEST(WatchAgreement, AgreesWithTheCheckOfTheWhole) {
  EXPECT_GE(compare({}, shape(0, 0.3), 11), 0.99);
}
TEST(WatchAgreement, AgreesWhereLinesAreLate) { compare({.late = true}, shape(0, 0.3), 12); }
TEST(WatchAgreement, AgreesWhereLittleIsKept) { compare({.forgetful = true}, shape(0, 0.3), 13); }
TEST(WatchAgreement, AgreesWhereValuesRepeat) {
  compare({.repeated = true}, shape(1, 0.3), 14);
  compare({.repeated = true, .forgetful = true}, shape(1, 0.3), 15);
}
TEST(WatchAgreement, AgreesWhereEverythingComesTogether) {
  compare({.repeated = true, .late = true, .forgetful = true}, shape(0.5, 0.3), 16);
}
TEST(WatchAgreement, AgreesOnSingleOperations) {
  RandomShape s = shape(0.2, 0.3);
  s.single_op = 1;
  EXPECT_GE(compare({.level = LevelId::linearizable, .repeated = true}, s, 17), 0.99);
  compare({.level = LevelId::linearizable, .repeated = true, .forgetful = true}, s, 18);
}

}  // namespace
}  // namespace assay::internal::watch
