#include "collect/generate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <set>
#include <string>

#include "assay/format.h"
#include "collect/lines.h"

namespace assay::internal::collect {
namespace {

// Keeps the lines as text.
class TextSink : public Sink {
 public:
  Status header(std::string_view meta) override {
    append_header_line(text, meta);
    return Ok{};
  }
  Status transaction(const TxnRecord& record) override {
    append_record_line(text, record);
    return fail_ ? Status(io_error("full")) : Status(Ok{});
  }
  Status event(int64_t, std::string_view json) override {
    append_event_line(text, json);
    return Ok{};
  }
  Status order(const OrderRecord&) override { return Ok{}; }
  Status finish() override { return Ok{}; }
  std::string text;
  bool fail_ = false;
};

std::string text_of(const GenerateOptions& options) {
  TextSink sink;
  const auto stats = generate(options, sink);
  EXPECT_TRUE(stats.ok()) << stats.error().to_string();
  return sink.text;
}

History history_of(const GenerateOptions& options) {
  HistorySink sink;
  const auto stats = generate(options, sink);
  EXPECT_TRUE(stats.ok()) << stats.error().to_string();
  auto history = sink.take();
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  return std::move(history).value();
}

std::string refusal(const GenerateOptions& options) {
  TextSink sink;
  const auto stats = generate(options, sink);
  EXPECT_FALSE(stats.ok());
  if (stats.ok()) return {};
  EXPECT_EQ(stats.error().kind, ErrorKind::usage);
  return stats.error().message;
}

TEST(Generate, SameOptionsSameBytes) {
  GenerateOptions options;
  const std::string first = text_of(options);
  EXPECT_EQ(first, text_of(options));
  options.seed = 2;
  EXPECT_NE(first, text_of(options));
}

TEST(Generate, EverySessionCommitsWhatWasAskedFor) {
  for (const LevelInfo& level : default_levels()) {
    GenerateOptions options;
    options.level = level.id;
    options.sessions = 7;
    options.txns = 30;
    options.workload_options.keys = 20;
    const History h = history_of(options);
    ASSERT_EQ(h.session_count(), 7u);
    for (SessionId s = 0; s < 7; ++s) {
      int committed = 0;
      for (TxnId t : h.session_txns(s)) committed += h.status(t) == TxnStatus::committed;
      EXPECT_EQ(committed, 30) << level.name;
    }
    EXPECT_TRUE(h.fully_timed());
  }
}

TEST(Generate, NoValueIsWrittenTwice) {
  GenerateOptions options;
  options.workload_options.keys = 5;
  options.bug = Anomaly::lost_update;
  options.bug_count = 5;
  const History h = history_of(options);
  std::set<int64_t> values;
  for (OpId i = 0; i < h.op_count(); ++i) {
    if (h.op(i).kind != OpKind::write) continue;
    EXPECT_TRUE(values.insert(h.version_value(h.op(i).version).integer).second);
  }
}

TEST(Generate, AsManyValuesAKeyAsAskedForButEveryDeletionHasItsOwn) {
  GenerateOptions options;
  options.workload = "v-range-idh";
  options.workload_options.keys = 5;
  options.workload_options.values = 3;
  const History h = history_of(options);
  std::set<int64_t> values, tombstones;
  size_t written = 0;
  for (OpId i = 0; i < h.op_count(); ++i) {
    const OpKind kind = h.op(i).kind;
    if (kind == OpKind::read || kind == OpKind::range) continue;
    const int64_t value = h.version_value(h.op(i).version).integer;
    written += kind == OpKind::write;
    if (kind != OpKind::remove)
      values.insert(value);
    else
      EXPECT_TRUE(tombstones.insert(value).second);
  }
  EXPECT_EQ(values, (std::set<int64_t>{1, 2, 3}));
  EXPECT_GT(written, 100u);
  EXPECT_GT(tombstones.size(), 100u);
  EXPECT_GT(*tombstones.begin(), 3);
}

// Ranges and lists: return something, and nothing.
TEST(Generate, EveryKindOfOperationTakesEffectAndFails) {
  std::set<std::pair<OpKind, bool>> seen;
  for (const char* workload : {"v-range-b", "lwt", "list-append"}) {
    GenerateOptions options;
    options.workload = workload;
    options.workload_options.keys = 10;
    const History h = history_of(options);
    for (OpId i = 0; i < h.op_count(); ++i) {
      const Operation op = h.op(i);
      const bool reads = op.kind == OpKind::read_list || op.kind == OpKind::range;
      const bool found =
          op.kind == OpKind::range ? !h.selected(i).rows.empty() : !h.operands(i).empty();
      seen.insert({op.kind, reads ? found : op.effect});
    }
  }
  for (const OpKind kind : {OpKind::insert, OpKind::cas, OpKind::read_list, OpKind::range}) {
    EXPECT_TRUE(seen.contains({kind, true}));
    EXPECT_TRUE(seen.contains({kind, false}));
  }
  for (const OpKind kind : {OpKind::read, OpKind::write, OpKind::append, OpKind::remove})
    EXPECT_TRUE(seen.contains({kind, true}));
}

TEST(Generate, SharesOfAbortedAndUnknown) {
  GenerateOptions options;
  options.txns = 500;
  options.workload_options.keys = 100000;  // hardly any conflicts
  options.abort_share = 0.2;
  options.unknown_share = 0.1;
  TextSink sink;
  const auto stats = generate(options, sink);
  ASSERT_TRUE(stats.ok());
  const double all = static_cast<double>(stats->committed + stats->aborted + stats->unknown);
  EXPECT_NEAR(static_cast<double>(stats->aborted) / all, 0.2, 0.03);
  EXPECT_NEAR(static_cast<double>(stats->unknown) / all, 0.1, 0.02);
}

TEST(Generate, ConflictsStayFewHoweverContendedTheKeysAre) {
  GenerateOptions options;
  options.level = LevelId::strict_serializable;
  options.sessions = 30;
  options.workload_options.keys = 3;
  options.workload_options.ops = 15;
  TextSink sink;
  const auto stats = generate(options, sink);
  ASSERT_TRUE(stats.ok());
  EXPECT_LT(stats->aborted, stats->committed / 5);
  EXPECT_GT(stats->aborted, 0u);
}

TEST(Generate, TransactionsOverlap) {
  GenerateOptions options;
  options.times = Times::points;
  const History h = history_of(options);
  int overlapping = 0;
  for (TxnId t = 0; t + 1 < h.txn_count(); ++t)
    for (TxnId u = t + 1; u < std::min(t + 20, h.txn_count()); ++u)
      if (h.end_time(t).known() && h.begin_time(u).request < h.end_time(t).request) ++overlapping;
  EXPECT_GT(overlapping, 1000);
}

TEST(Generate, TimesAsAskedFor) {
  GenerateOptions options;
  options.times = Times::none;
  EXPECT_EQ(text_of(options).find("begin"), std::string::npos);
  options.times = Times::points;
  const History points = history_of(options);
  EXPECT_EQ(points.begin_time(0).request, points.begin_time(0).response);
  options.times = Times::intervals;
  const History intervals = history_of(options);
  EXPECT_LT(intervals.begin_time(0).request, intervals.begin_time(0).response);
  options.clock_error = 1'000'000'000;
  const History off = history_of(options);
  EXPECT_TRUE(off.fully_timed());
  EXPECT_NE(off.begin_time(0), intervals.begin_time(0));
}

TEST(Generate, JitterMovesEachTransactionAlone) {
  GenerateOptions options;
  options.sessions = 1;
  options.times = Times::points;
  const History sound = history_of(options);
  options.time_jitter = 1'000'000'000;
  const History jittered = history_of(options);
  ASSERT_EQ(jittered.op_count(), sound.op_count());
  std::set<int64_t> offsets;
  for (TxnId t = 1; t < jittered.txn_count(); ++t) {
    EXPECT_GE(jittered.begin_time(t).request, jittered.begin_time(t - 1).request);
    offsets.insert(jittered.begin_time(t).request - sound.begin_time(t).request);
  }
  EXPECT_GT(offsets.size(), 10u);
}

TEST(Generate, ShapesAsAskedFor) {
  GenerateOptions options;
  options.workload_options.ops = 3;
  options.workload_options.read_share = 1;
  const History reads = history_of(options);
  for (TxnId t = 0; t < reads.txn_count(); ++t) EXPECT_EQ(reads.end_op(t) - reads.first_op(t), 3u);
  for (OpId i = 0; i < reads.op_count(); ++i) EXPECT_EQ(reads.op(i).kind, OpKind::read);
  options.workload = "mini";
  const History mini = history_of(options);
  for (TxnId t = 0; t < mini.txn_count(); ++t) EXPECT_LE(mini.end_op(t) - mini.first_op(t), 4u);
}

TEST(Generate, LongTransactions) {
  GenerateOptions options;
  options.level = LevelId::session_serializable;
  options.sessions = 3;
  options.txns = 4;
  options.workload_options.ops = 2000;
  EXPECT_GT(history_of(options).op_count(), 4 * 2000u);
}

TEST(Generate, LinearizableHasOneOperationATransaction) {
  GenerateOptions options;
  options.level = LevelId::linearizable;
  const History h = history_of(options);
  EXPECT_EQ(h.op_count(), h.txn_count());
  options.workload = "mini";
  EXPECT_NE(refusal(options).find("general"), std::string::npos);
}

TEST(Generate, SaysWhyNot) {
  GenerateOptions options;
  options.sessions = 0;
  EXPECT_NE(refusal(options).find("sessions"), std::string::npos);
  options = {};
  options.txns = uint64_t{1} << 60;
  EXPECT_NE(refusal(options).find("transactions"), std::string::npos);
  options = {};
  options.workload = "tpc-x";
  EXPECT_NE(refusal(options).find("general, baseline, mini, increment"), std::string::npos);
  options = {};
  options.level = LevelId::linearizable;
  options.workload = "bank";
  EXPECT_NE(refusal(options).find("single operations"), std::string::npos);
  options = {};
  options.bug = Anomaly::write_skew;
  EXPECT_NE(refusal(options).find("allows"), std::string::npos);
  options.bug = Anomaly::g_single;
  EXPECT_NE(refusal(options).find("lost-update"), std::string::npos);
  options.bug = Anomaly::long_fork;
  options.sessions = 3;
  EXPECT_NE(refusal(options).find("at least 4 sessions"), std::string::npos);
  options.sessions = 4;
  options.workload_options.keys = 1;
  EXPECT_NE(refusal(options).find("2 keys"), std::string::npos);
  options = {};
  options.level = LevelId::strong_si;
  options.bug = Anomaly::real_time_violation;
  options.times = Times::none;
  EXPECT_NE(refusal(options).find("times"), std::string::npos);
  options = {};
  options.level = LevelId::linearizable;
  options.bug = Anomaly::write_skew;
  EXPECT_NE(refusal(options).find("several operations"), std::string::npos);
  options.bug = Anomaly::lost_update;
  options.workload = "list-append";
  EXPECT_NE(refusal(options).find("compare-and-set"), std::string::npos);
  options = {};
  options.workload_options.read_share = 1.5;
  EXPECT_NE(refusal(options).find("read share"), std::string::npos);
}

TEST(Generate, ASinkThatFailsEndsIt) {
  TextSink sink;
  sink.fail_ = true;
  const auto stats = generate({}, sink);
  ASSERT_FALSE(stats.ok());
  EXPECT_EQ(stats.error().kind, ErrorKind::io);
}

TEST(Generate, LinesAndHistoryAgree) {
  GenerateOptions options;
  options.bug = Anomaly::aborted_read;
  const auto read = read_history_text(text_of(options), "generated");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->history.content_hash(), history_of(options).content_hash());
}

}  // namespace
}  // namespace assay::internal::collect
