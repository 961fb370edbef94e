// Each fault that the simulated database is made to have is exactly one alarm (watch/watcher.h).
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "collect/generate.h"
#include "collect/sink.h"
#include "history/copy.h"
#include "watch/watcher.h"

namespace assay::internal::watch {
namespace {

constexpr uint32_t kFaults = 20;
constexpr size_t kPiece = 100;

class Count : public WatchListener {
 public:
  void alarm(Audit&& violation, const std::string&) override {
    ++alarms;
    EXPECT_LE(violation.history.txn_count(), 50u);
  }
  void undecided(const Undecided& what) override { unknown += what.about + ": " + what.reason; }

  uint32_t alarms = 0;
  std::string unknown;
};

// The lines stand in the order in which the transactions ended.
Count watched(const History& h) {
  WatchOptions options;
  options.sessions = h.session_count();
  options.window = 200;
  Count count;
  Watcher watcher(options, count);
  for (TxnId t = 0; t < h.txn_count();) {
    HistoryBuilder piece;
    TxnCopier copier(piece);
    for (const TxnId end = static_cast<TxnId>(t + kPiece); t < end && t < h.txn_count(); ++t) {
      copier.begin(h, t);
      for (OpId i = h.first_op(t); i < h.end_op(t); ++i) copier.operation(h, i);
      EXPECT_TRUE(piece.end_txn().ok());
    }
    Result<History> made = std::move(piece).finish();
    EXPECT_TRUE(made.ok());
    EXPECT_TRUE(watcher.add(std::make_shared<const History>(std::move(*made))).ok());
  }
  EXPECT_TRUE(watcher.finish().ok());
  return count;
}

Result<History> with_bug(Anomaly bug) {
  collect::GenerateOptions options;
  options.level = LevelId::strict_serializable;
  options.bug = bug;
  options.bug_count = kFaults;
  options.sessions = 8;
  options.txns = 200;
  options.workload_options.keys = 300;
  options.unknown_share = 0;
  collect::HistorySink sink;
  if (const auto made = collect::generate(options, sink); !made.ok()) return made.error();
  return sink.take();
}

TEST(WatchFaults, EachIsOneAlarm) {
  size_t kinds = 0;
  for (const Anomaly bug : collect::all_bugs()) {
    const Result<History> h = with_bug(bug);
    if (!h.ok()) continue;  // the level allows it
    const Count count = watched(*h);
    EXPECT_EQ(count.alarms, kFaults) << anomaly_info(bug).name;
    EXPECT_EQ(count.unknown, "") << anomaly_info(bug).name;
    ++kinds;
  }
  EXPECT_GE(kinds, 15u);
}

TEST(WatchFaults, NoneIsNoAlarm) {
  const Result<History> h = with_bug(Anomaly::none);
  ASSERT_TRUE(h.ok());
  const Count count = watched(*h);
  EXPECT_EQ(count.alarms, 0u);
  EXPECT_EQ(count.unknown, "");
}

}  // namespace
}  // namespace assay::internal::watch
