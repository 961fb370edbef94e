#include "collect/lightweight.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::internal::collect {
namespace {

History made(const LightweightOptions& options) {
  HistorySink sink;
  const auto stats = generate_lightweight(options, sink);
  EXPECT_TRUE(stats.ok()) << stats.error().to_string();
  auto history = sink.take();
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  return std::move(history).value();
}

// The most operations under way at one time.
size_t most_at_once(const History& h) {
  size_t most = 0;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    size_t now = 0;
    for (TxnId u = 0; u < h.txn_count(); ++u)
      now += h.begin_time(u).request <= h.begin_time(t).request &&
             h.end_time(u).response >= h.begin_time(t).request;
    most = std::max(most, now);
  }
  return most;
}

TEST(Lightweight, EveryTransactionIsOneOperationWithTimes) {
  const History h = made({.sessions = 4, .txns = 50, .keys = 3, .unknown_share = 0.05});
  EXPECT_EQ(h.txn_count(), 4 * 50 + 3u);
  std::set<OpKind> kinds;
  size_t unknown = 0, failed = 0;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    ASSERT_EQ(h.end_op(t) - h.first_op(t), 1u);
    kinds.insert(h.op(h.first_op(t)).kind);
    failed += !h.op(h.first_op(t)).effect;
    unknown += h.status(t) == TxnStatus::unknown;
  }
  EXPECT_EQ(kinds, (std::set<OpKind>{OpKind::read, OpKind::cas, OpKind::insert}));
  EXPECT_GT(unknown, 0u);
  EXPECT_GT(failed, 0u);
  EXPECT_TRUE(h.fully_timed());
}

TEST(Lightweight, AsManyOverlapAsWanted) {
  const LightweightOptions options{.sessions = 10, .txns = 20, .keys = 2};
  LightweightOptions some = options;
  for (const auto& [share, least, most] :
       {std::tuple(0.0, 1u, 1u), std::tuple(0.5, 4u, 5u), std::tuple(1.0, 8u, 10u)}) {
    some.concurrent = share;
    EXPECT_GE(most_at_once(made(some)), least);
    EXPECT_LE(most_at_once(made(some)), most);
  }
}

TEST(Lightweight, TheSameSeedMakesTheSameHistory) {
  LightweightOptions options{.sessions = 3, .txns = 20, .keys = 2, .seed = 7};
  EXPECT_EQ(made(options).content_hash(), made(options).content_hash());
  const std::string first = made(options).content_hash();
  options.seed = 8;
  EXPECT_NE(made(options).content_hash(), first);
}

TEST(Lightweight, RefusesWhatMakesNoSense) {
  HistorySink sink;
  EXPECT_FALSE(generate_lightweight({.sessions = 0}, sink).ok());
  EXPECT_FALSE(generate_lightweight({.concurrent = 2}, sink).ok());
  EXPECT_FALSE(generate_lightweight({.bug = Anomaly::write_skew}, sink).ok());
}

}  // namespace
}  // namespace assay::internal::collect
