// Each fault that the simulated database is made to have is exactly one alarm, by whatever the
// history is watched.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "collect/generate.h"
#include "collect/sink.h"
#include "collect/workloads/fences.h"
#include "history/copy.h"
#include "watch/fenced_watcher.h"
#include "watch/horizon_watcher.h"
#include "watch/watcher.h"

namespace assay::internal::watch {
namespace {

constexpr uint32_t kFaults = 20;
constexpr size_t kPiece = 100;

enum class Way : uint8_t { times, fences, horizon };

std::unique_ptr<Watch> watch_by(Way way, const WatchOptions& options, WatchListener& listener) {
  if (way == Way::times) return std::make_unique<Watcher>(options, listener);
  if (way == Way::fences) return std::make_unique<FencedWatcher>(options, listener);
  return std::make_unique<HorizonWatcher>(options, listener);
}

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
Count watched(const History& h, Way way) {
  WatchOptions options;
  options.sessions = h.session_count();
  options.window = 200;
  if (way != Way::times) options.level = LevelId::session_serializable;
  if (way == Way::fences) options.fence = std::to_string(collect::kFenceKey);
  if (way == Way::horizon) options.horizon = 500;
  Count count;
  const std::unique_ptr<Watch> watch = watch_by(way, options, count);
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
    EXPECT_TRUE(watch->add(std::make_shared<const History>(std::move(*made))).ok());
  }
  EXPECT_TRUE(watch->finish().ok());
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
  options.workload_options.fences = 20;
  options.unknown_share = 0;
  collect::HistorySink sink;
  if (const auto made = collect::generate(options, sink); !made.ok()) return made.error();
  return sink.take();
}

// What is against real time alone is against nothing else, and what nobody wrote may have been
// written beyond the horizon.
bool can_be_told(Way way, Anomaly bug) {
  if (bug == Anomaly::real_time_violation) return way == Way::times;
  return bug != Anomaly::thin_air_read || way != Way::horizon;
}

class WatchFaults : public ::testing::TestWithParam<Way> {};

TEST_P(WatchFaults, EachIsOneAlarm) {
  size_t kinds = 0;
  for (const Anomaly bug : collect::all_bugs()) {
    if (!can_be_told(GetParam(), bug)) continue;
    const Result<History> h = with_bug(bug);
    if (!h.ok()) continue;  // the level allows it
    const Count count = watched(*h, GetParam());
    EXPECT_EQ(count.alarms, kFaults) << anomaly_info(bug).name;
    EXPECT_EQ(count.unknown, "") << anomaly_info(bug).name;
    ++kinds;
  }
  EXPECT_GE(kinds, GetParam() == Way::times ? 15u : 13u);
}

TEST_P(WatchFaults, NoneIsNoAlarm) {
  const Result<History> h = with_bug(Anomaly::none);
  ASSERT_TRUE(h.ok());
  const Count count = watched(*h, GetParam());
  EXPECT_EQ(count.alarms, 0u);
  EXPECT_EQ(count.unknown, "");
}

std::string name_of(const ::testing::TestParamInfo<Way>& way) {
  switch (way.param) {
    case Way::times:
      return "times";
    case Way::fences:
      return "fences";
    case Way::horizon:
      break;
  }
  return "horizon";
}

INSTANTIATE_TEST_SUITE_P(By, WatchFaults, ::testing::Values(Way::times, Way::fences, Way::horizon),
                         name_of);

}  // namespace
}  // namespace assay::internal::watch
