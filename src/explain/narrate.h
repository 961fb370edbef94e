// The story of an anomaly in two or three sentences.
#pragma once

#include <string>
#include <vector>

#include "assay/anomaly.h"
#include "explain/clauses.h"
#include "explain/cycle.h"

namespace assay::internal {

// The story of a cycle (cycle_sentences.cc).
std::vector<std::string> narrate(Anomaly anomaly, Cycle cycle, const History& h,
                                 const Clauses& clauses);
// The story of two operations (read_sentences.cc).
std::vector<std::string> narrate(const BadRead& bad, const Excerpt& excerpt);
// The story of `reads` that returned a value which their transactions then overwrote, and which are
// one more than the times the value was there, initially or because of `writes`.
std::vector<std::string> narrate_overdrawn(const History& h, const std::vector<OpId>& reads,
                                           const std::vector<OpId>& writes);

// Says what the recording, rather than the database, may have got wrong; empty if nothing is
// likely.
std::string recording_hint(Anomaly anomaly, const History& h);

}  // namespace assay::internal
