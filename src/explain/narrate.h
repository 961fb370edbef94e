// The story of an anomaly in two or three sentences.
#pragma once

#include <string>
#include <vector>

#include "assay/anomaly.h"
#include "explain/clauses.h"
#include "explain/cycle.h"

namespace assay::internal {

// Of a cycle (cycle_sentences.cc).
std::vector<std::string> narrate(Anomaly anomaly, Cycle cycle, const History& h,
                                 const Clauses& clauses);
// Of two operations (read_sentences.cc).
std::vector<std::string> narrate(const BadRead& bad, const Excerpt& excerpt);
// `reads` of a value whose transactions overwrote it are one more than it was there, initially or
// by `writes`.
std::vector<std::string> narrate_overdrawn(const History& h, const std::vector<OpId>& reads,
                                           const std::vector<OpId>& writes);

// What the recording, not the database, may have got wrong; empty if nothing comes to mind.
std::string recording_hint(Anomaly anomaly, const History& h);

}  // namespace assay::internal
