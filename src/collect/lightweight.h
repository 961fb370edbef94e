// Histories of lightweight transactions: compare-and-set, reads and inserts on single keys, as a
// linearizable store would answer them, with as many sessions at once as wanted. See
// lightweight.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "assay/anomaly.h"
#include "collect/generate.h"
#include "collect/sink.h"

namespace assay::internal::collect {

struct LightweightOptions {
  uint32_t sessions = 10;
  uint64_t txns = 100;  // operations per session, without the inserts of the keys
  uint64_t keys = 10;
  double concurrent = 1;        // share of the sessions that overlap in each round
  double read_share = 0.2;      // share of the operations
  double failed_share = 0.05;   // share of the operations: compare-and-sets on an outdated value
  double unknown_share = 0;     // share of the operations: compare-and-sets whose outcome is lost
  Anomaly bug = Anomaly::none;  // one of lightweight_bugs()
  uint32_t bug_count = 1;
  uint64_t seed = 1;
  std::function<void(double fraction)> progress = {};
};

// lost-update: two compare-and-sets took one value. real-time-violation: a read of a value that was
// replaced before it began. thin-air-read: the write of a value that was read is missing.
std::span<const Anomaly> lightweight_bugs();

// Deterministic. Every planted bug makes the history violate linearizability.
Result<GenerateStats> generate_lightweight(const LightweightOptions& options, Sink& sink);

}  // namespace assay::internal::collect
