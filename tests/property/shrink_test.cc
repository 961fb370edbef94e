// What shrinking leaves violates the level by a fault that the whole history has.
#include "explain/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cases.h"
#include "collect/generate.h"
#include "collect/lightweight.h"
#include "explain/explain.h"
#include "levels/walk.h"
#include "oracle/oracle.h"

namespace assay::internal {
namespace {

// A workload that the simulated database can run with a bug that it can plant; by the number of the
// case.
Result<History> faulty(uint64_t number) {
  constexpr std::string_view kWorkloads[] = {"general",    "baseline",  "mini",    "increment",
                                             "write-skew", "long-fork", "bank",    "blindw-rw",
                                             "tpcc",       "rubis",     "twitter", "blindw-rm"};
  constexpr LevelId kLevels[] = {
      LevelId::strict_serializable, LevelId::session_si,    LevelId::prefix, LevelId::causal,
      LevelId::read_atomic,         LevelId::read_committed};
  collect::HistorySink sink;
  Result<collect::GenerateStats> made = usage_error("");
  if (number % 8 == 0) {
    collect::LightweightOptions options;
    options.sessions = 3;
    options.txns = 8;
    options.keys = 2;
    const auto bugs = collect::lightweight_bugs();
    options.bug = bugs[number / 8 % bugs.size()];
    options.seed = number;
    made = generate_lightweight(options, sink);
  } else {
    collect::GenerateOptions options;
    options.sessions = 4;
    options.txns = 5;
    options.level = kLevels[number % std::size(kLevels)];
    const auto bugs = collect::all_bugs();
    options.bug = bugs[number / std::size(kLevels) % bugs.size()];
    options.workload = kWorkloads[number / 7 % std::size(kWorkloads)];
    options.workload_options.keys = 3 + number % 5;
    options.workload_options.ops = static_cast<uint32_t>(2 + number % 4);
    options.unknown_share = 0.05;
    options.abort_share = 0.05;
    options.times = number % 2 == 0 ? collect::Times::none : collect::Times::intervals;
    options.seed = number;
    made = generate(options, sink);
  }
  if (!made.ok()) return made.error();
  return sink.take();
}

// Values that an operation returned and nobody wrote, by the transaction's name. What the history
// says by itself, with nothing of the checker.
std::set<std::string> reads_of_nothing(const History& h) {
  std::vector<bool> written(h.version_count());
  for (OpId i = 0; i < h.op_count(); ++i)
    if (installs_version(h.op(i))) written[h.op(i).version] = true;
  std::set<std::string> found;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Operation op = h.op(i);
      std::vector<VersionId> seen;
      if (op.kind == OpKind::read) seen = {op.version};
      if (op.kind == OpKind::cas && op.effect) seen = {h.operands(i)[0]};
      if (op.kind == OpKind::read_list) seen.assign(h.operands(i).begin(), h.operands(i).end());
      for (const VersionId v : seen)
        if (!written[v] && !h.is_initial(v) && !h.version_value(v).is_null())
          found.insert(h.name(t) + " " + h.key(h.version_key(v)).to_string() + " " +
                       h.version_value(v).to_string());
    }
  }
  return found;
}

TEST(ShrinkViolation, KeepsAFaultOfTheWhole) {
  uint64_t shrunk = 0, left = 0, judged = 0, same_name = 0;
  std::set<Anomaly> anomalies;
  const uint64_t cases = histories(10'000);
  for (uint64_t number = 1; number <= cases; ++number) {
    const Result<History> whole = faulty(number);
    if (!whole.ok()) continue;  // that level allows that bug
    const CheckResult result = decide_levels(*whole, {});
    for (const Explanation& explained : explain(*whole, result)) {
      const LevelId level = explained.level;
      ShrinkOptions options;
      options.suspects = explained.transactions;
      const Result<Shrunk> small = shrink_violation(*whole, level, explained.anomaly, {}, options);
      ASSERT_TRUE(small.ok()) << "case " << number << ": " << small.error().to_string();
      ++shrunk;
      anomalies.insert(explained.anomaly);
      const History& part = small->history;
      left += part.txn_count();
      const std::set<std::string> in_whole = reads_of_nothing(*whole),
                                  in_part = reads_of_nothing(part);
      EXPECT_TRUE(std::includes(in_whole.begin(), in_whole.end(), in_part.begin(), in_part.end()))
          << "case " << number << ": " << testing::PrintToString(in_part);
      CheckOptions alone;
      alone.levels = {level};
      const CheckResult again = decide_levels(part, alone);
      const std::vector<Explanation> story = explain(part, again);
      ASSERT_EQ(story.size(), 1u) << "case " << number << " " << level_info(level).name;
      same_name += story[0].anomaly == explained.anomaly;
      const Outcome truth = oracle::decide(part, level);
      judged += truth != Outcome::unknown;
      EXPECT_NE(truth, Outcome::satisfied) << "case " << number << " " << level_info(level).name;
    }
  }
  EXPECT_GT(shrunk, cases / 3);
  EXPECT_LT(left, 4 * shrunk);
  EXPECT_GT(judged, shrunk * 9 / 10);
  EXPECT_GT(same_name, shrunk * 95 / 100);
  EXPECT_GT(anomalies.size(), 7u);
}

}  // namespace
}  // namespace assay::internal
