// Watching by timestamps never comes to another verdict than `check --expected-order commit_ts` of
// the whole (watch/timestamp_watcher.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/check.h"
#include "assay/format.h"
#include "base/rng.h"
#include "cases.h"
#include "oracle/draft.h"
#include "watch/timestamp_watcher.h"
#include "watched_lines.h"

namespace assay::internal::watch {
namespace {

struct TimestampCase {
  LevelId level = LevelId::strong_si;
  bool faults = true;
  bool unknown = false;   // outcomes, mostly without a commit_ts
  bool repeated = false;  // values
  bool late = false;      // lines come later than is stated
};

// A database of snapshots that tells its timestamps.
class Snapshots {
 public:
  Snapshots(Rng& rng, const TimestampCase& c) : rng_(rng), case_(c) {}

  Draft run() {
    const int sessions = 2 + static_cast<int>(rng_.below(3));
    const uint64_t txns = 3 + rng_.below(10);
    std::vector<std::optional<DraftTxn>> open(sessions);
    std::vector<int64_t> before(sessions, 0);
    while (draft_.txns.size() < txns) {
      now_ += static_cast<int64_t>(rng_.below(3));
      const auto s = static_cast<size_t>(rng_.below(sessions));
      if (!open[s]) {
        open[s] = begin(static_cast<int>(s), before[s]);
      } else if (open[s]->start_ts == Interval::kUnknown) {
        start(*open[s], before[s]);
      } else if (rng_.below(2) == 0) {
        end(*open[s], before[s]);
        open[s].reset();
      }
    }
    return draft_;
  }

 private:
  struct Version {
    DraftValue value;
    int64_t commit;
  };

  DraftTxn begin(int session, int64_t) {
    DraftTxn t;
    t.session = session;
    t.begin = Interval::point(++now_);
    return t;
  }

  void start(DraftTxn& t, int64_t before) {
    if (rng_.below(3) == 0) ++clock_;
    t.start_ts = clock_;
    // Without real time any point will do that its session has not passed.
    if (case_.level == LevelId::session_si && rng_.below(3) == 0)
      t.start_ts = before + static_cast<int64_t>(rng_.below(clock_ - before + 1));
    std::map<int, DraftValue> own;
    for (uint64_t i = 0, ops = 1 + rng_.below(4); i < ops; ++i) add_op(t, own);
  }

  void add_op(DraftTxn& t, std::map<int, DraftValue>& own) {
    DraftOp op;
    op.key = static_cast<int>(rng_.below(3));
    const DraftValue held = own.contains(op.key) ? own[op.key] : at(op.key, t.start_ts);
    const DraftValue fresh = case_.repeated ? 1 + static_cast<int64_t>(rng_.below(3)) : ++value_;
    switch (rng_.below(8)) {
      case 0:
        op.kind = OpKind::insert;
        op.value = fresh;
        op.effect = !held;
        break;
      case 1:
        op.kind = OpKind::cas;
        op.expected = rng_.below(2) == 0 ? held : DraftValue(1);
        op.value = fresh;
        op.effect = held == op.expected;
        break;
      case 2:
        op.kind = OpKind::remove;
        op.value = ++value_;
        break;
      case 3:
      case 4:
        op.kind = OpKind::write;
        op.value = fresh;
        break;
      default:
        op.value = held;
    }
    if (op.kind != OpKind::read && op.effect)
      own[op.key] = op.kind == OpKind::remove ? DraftValue() : op.value;
    t.ops.push_back(op);
  }

  DraftValue at(int key, int64_t time) const {
    DraftValue value;
    for (const Version& v : versions_[key])
      if (v.commit <= time) value = v.value;
    return value;
  }

  void end(DraftTxn& t, int64_t& before) {
    t.commit_ts = ++clock_;
    bool writes = false, conflict = false;
    for (const DraftOp& op : t.ops) {
      if (op.kind == OpKind::read || !op.effect) continue;
      writes = true;
      const std::vector<Version>& all = versions_[op.key];
      conflict = conflict || (!all.empty() && all.back().commit > t.start_ts);
    }
    if (!writes) t.commit_ts = t.start_ts;
    if (conflict) t.status = TxnStatus::aborted;
    if (!conflict && case_.unknown && rng_.below(6) == 0) t.status = TxnStatus::unknown;
    const bool effect = t.status != TxnStatus::unknown || rng_.below(2) == 0;
    if (!conflict && effect) install(t);
    if (t.status == TxnStatus::committed) before = t.commit_ts;
    if (t.status == TxnStatus::unknown && (!effect || rng_.below(3) != 0))
      t.commit_ts = Interval::kUnknown;
    t.end = Interval::point(++now_);
    if (t.status == TxnStatus::unknown) t.end = Interval{};
    draft_.txns.push_back(t);
  }

  void install(const DraftTxn& t) {
    for (const DraftOp& op : t.ops)
      if (op.kind != OpKind::read && op.effect)
        versions_[op.key].push_back(
            {op.kind == OpKind::remove ? DraftValue() : op.value, t.commit_ts});
  }

  Rng& rng_;
  const TimestampCase& case_;
  Draft draft_;
  std::vector<Version> versions_[3];
  int64_t now_ = 0, clock_ = 0, value_ = 10;
};

// One thing that a database may get wrong.
void plant_fault(Rng& rng, Draft& draft) {
  DraftTxn& t = draft.txns[rng.below(draft.txns.size())];
  const auto shift = static_cast<int64_t>(rng.below(7)) - 3;
  switch (rng.below(4)) {
    case 0:
      t.start_ts = std::max<int64_t>(0, t.start_ts + shift);
      break;
    case 1:
      if (t.commit_ts != Interval::kUnknown)
        t.commit_ts = std::max<int64_t>(0, t.commit_ts + shift);
      break;
    case 2:
      std::swap(t.ops, draft.txns[rng.below(draft.txns.size())].ops);
      break;
    default: {
      DraftOp& op = t.ops[rng.below(t.ops.size())];
      const DraftTxn& other = draft.txns[rng.below(draft.txns.size())];
      if (op.kind == OpKind::read) op.value = other.ops[rng.below(other.ops.size())].value;
    }
  }
}

class Heard : public WatchListener {
 public:
  void alarm(Audit&&, const std::string&) override { ADD_FAILURE() << "an alarm of another kind"; }
  void undecided(const Undecided& what) override {
    unknown += what.about + ": " + what.reason + "\n";
  }
  void unexplained(Unexplained&& what) override {
    ++alarms;
    told += what.sentence + "\n";
    if (what.part) ++shown;
  }
  int alarms = 0, shown = 0;
  std::string unknown, told;
};

enum class Explains { yes, no, unknown, nothing_placed };

Explains explained_plainly(const History& h, LevelId level) {
  CheckOptions options;
  options.levels = {level};
  options.expected_order = ExpectedOrder{};
  const CheckResult result = check(h, options);
  if (!result.expected_order) return Explains::no;  // some read is wrong by itself
  if (!result.expected_order->obstacle.empty()) return Explains::unknown;
  // No event but of outcomes that nobody knows.
  const bool replayed =
      std::ranges::any_of(result.expected_order->replays,
                          [](const OrderReplay& r) { return r.level != LevelId::serializable; });
  if (!replayed) return Explains::nothing_placed;
  const bool explained =
      std::ranges::any_of(result.expected_order->replays, [&](const OrderReplay& r) {
        return r.level == level && r.fault == OrderReplay::Fault::none;
      });
  return explained ? Explains::yes : Explains::no;
}

Heard watched(const std::string& text, const WatchOptions& options, Rng& rng) {
  Heard heard;
  TimestampWatcher watcher(options, heard);
  Pieces pieces(text);
  while (const auto piece = pieces.next(1 + rng.below(3))) {
    const Status added = watcher.add(piece);
    EXPECT_TRUE(added.ok()) << added.error().to_string();
  }
  EXPECT_TRUE(watcher.finish().ok());
  EXPECT_EQ(watcher.progress().buffered, 0u);
  return heard;
}

struct ComparedStamps {
  uint64_t all = 0, explained = 0, decided = 0, alarms = 0, shown = 0;
};

void compare_one(const TimestampCase& c, Rng& rng, ComparedStamps& sum) {
  Draft draft = Snapshots(rng, c).run();
  if (c.faults && rng.below(3) != 0) plant_fault(rng, draft);
  const Result<History> h = draft.history();
  ASSERT_TRUE(h.ok()) << h.error().to_string();
  const WatchCase lines{.level = c.level, .repeated = c.repeated, .late = c.late};
  const std::vector<TxnId> order = as_reported(*h, rng, c.late ? 20 : 3);
  WatchOptions options = watch_options(*h, order, lines, rng);
  options.by_timestamps = true;
  if (c.level == LevelId::session_si) options.sessions = h->session_count();
  const std::string text = Pieces(*h, order).text();
  const Result<ReadResult> whole = read_history_text(text, "test", {.from = "assay"});
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  const Explains truth = explained_plainly(whole->history, c.level);
  const Heard heard = watched(text, options, rng);
  const bool told = !heard.unknown.empty();
  EXPECT_FALSE(heard.alarms > 0 && truth == Explains::yes && !(c.late && told)) << "a false alarm";
  EXPECT_FALSE(heard.alarms == 0 && !told && truth == Explains::no) << "a fault was missed";
  EXPECT_FALSE(heard.alarms == 0 && !told && truth == Explains::unknown) << "taken for explained";
  if (::testing::Test::HasFailure())
    std::cout << text << "told: " << heard.told << "unknown: " << heard.unknown << "lateness "
              << options.lateness << " sessions " << options.sessions << "\n";
  sum.alarms += static_cast<uint64_t>(heard.alarms);
  sum.shown += static_cast<uint64_t>(heard.shown);
  if (truth != Explains::yes && truth != Explains::no) return;
  ++sum.all;
  sum.explained += truth == Explains::yes;
  sum.decided += heard.alarms > 0 || !told;
}

// The share of the histories that are decided.
double compare(const TimestampCase& c, uint64_t seed) {
  Rng rng(rotated(seed));
  ComparedStamps sum;
  for (uint64_t i = 0, all = histories(2000); i < all; ++i) {
    compare_one(c, rng, sum);
    if (::testing::Test::HasFailure()) break;
  }
  const double share =
      static_cast<double>(sum.decided) / static_cast<double>(std::max<uint64_t>(1, sum.all));
  std::cout << sum.all << " histories, " << sum.explained << " explained, decided " << 100 * share
            << " %, " << sum.alarms << " alarms, " << sum.shown << " of them shown\n";
  EXPECT_GT(sum.explained, sum.all / 20);
  EXPECT_LT(sum.explained, sum.all - (c.faults ? sum.all / 20 : 0) + 1);
  return share;
}

TEST(TimestampWatch, AgreesAtStrongSi) { EXPECT_GE(compare({}, 31), 0.99); }
TEST(TimestampWatch, AgreesAtSessionSi) {
  EXPECT_GE(compare({.level = LevelId::session_si}, 32), 0.99);
}
TEST(TimestampWatch, AgreesWhereValuesRepeat) { EXPECT_GE(compare({.repeated = true}, 33), 0.99); }
TEST(TimestampWatch, AgreesWhereOutcomesAreUnknown) {
  EXPECT_GE(compare({.unknown = true}, 34), 0.95);
  EXPECT_GE(compare({.level = LevelId::session_si, .unknown = true}, 35), 0.95);
}
TEST(TimestampWatch, AgreesWhereLinesAreLate) {
  compare({.late = true}, 36);
  compare({.level = LevelId::session_si, .late = true}, 37);
  compare({.unknown = true, .repeated = true, .late = true}, 38);
}

}  // namespace
}  // namespace assay::internal::watch
