// Histories from a simulated database of a chosen isolation level, with or without a named bug.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/anomaly.h"
#include "assay/level.h"
#include "assay/result.h"
#include "collect/sink.h"
#include "collect/workload.h"

namespace assay::internal::collect {

// What begin and end times look like: none at all, the true moments on the simulated clock, or the
// [request, response] that a client sees around them.
enum class Times : uint8_t { none, points, intervals };

// Faults of what the database says about itself, each planted in a few small transactions:
//   other_order   two versions were installed in another order than the log says
//   dirty_write   two transactions overwrote each other, one first on one key, the other on another
//   lost_version  a commit was acknowledged, and is neither in the database nor in the log
//   wrong_times   two transactions have each other's commit_ts
enum class LogBug : uint8_t { none, other_order, dirty_write, lost_version, wrong_times };
struct LogBugInfo {
  LogBug bug;
  std::string_view name;  // "other-order"
};
// All except none.
std::span<const LogBugInfo> all_log_bugs();
std::string_view log_bug_name(LogBug bug);

struct GenerateOptions {
  LevelId level = LevelId::session_si;
  // If not empty, sessions take turns at these levels, all of which can be mixed, and transactions
  // declare theirs.
  std::vector<LevelId> mix;
  Anomaly bug = Anomaly::none;    // one of all_bugs()
  LogBug log_bug = LogBug::none;  // instead of `bug`
  uint32_t bug_count = 1;         // how many times the bug is planted
  uint32_t sessions = 10;
  uint64_t txns = 100;  // committed transactions per session
  std::string workload = "general";
  WorkloadOptions workload_options;
  uint64_t seed = 1;
  Times times = Times::intervals;
  // Each session's clock is off by a fixed amount of at most this many nanoseconds. If it is not 0,
  // the times are only hints: levels with real time may then be reported violated.
  int64_t clock_error = 0;
  // The same, with a separate amount for each transaction.
  int64_t time_jitter = 0;
  // Each transaction gets the database's own times: start_ts, the newest commit that it sees, and
  // commit_ts, its place in the order of commits. They exist at levels where a transaction sees one
  // point of that order.
  bool timestamps = false;
  bool version_order = false;    // whether the order in which versions were installed follows, as
                                 // from the database's log
  double abort_share = 0.01;     // share of transactions that the client gives up
  double unknown_share = 0.002;  // share of transactions whose outcome is lost
  std::function<void(double fraction)> progress;
};

struct GenerateStats {
  uint64_t committed = 0;
  uint64_t aborted = 0;
  uint64_t unknown = 0;
  uint64_t operations = 0;  // number of operations written to the sink
};

// The anomalies that can be planted as bugs, in the order of Anomaly.
std::span<const Anomaly> all_bugs();

// The first workload that shows a bug: general, or predicates if only queries by condition do.
std::string_view workload_for(Anomaly bug);

// Deterministic: equal options give equal output. Errors: usage, or what the sink returned. A bug
// that the level allows is a usage error, since it would not be one.
Result<GenerateStats> generate(const GenerateOptions& options, Sink& sink);

}  // namespace assay::internal::collect
