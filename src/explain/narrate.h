// The story of an anomaly in two or three sentences.
#pragma once

#include <string>
#include <vector>

#include "assay/anomaly.h"
#include "explain/because.h"
#include "explain/local_graph.h"

namespace assay::internal {

std::vector<std::string> narrate(Anomaly anomaly, const Cycle& cycle, const Accesses& accesses,
                                 const Clauses& clauses);
std::vector<std::string> narrate(const BadRead& bad, const Accesses& accesses);
// `reads` of a value whose transactions overwrote it are one more than it was there, initially or by `writes`.
std::vector<std::string> narrate_overdrawn(const History& h, const std::vector<OpId>& reads,
                                           const std::vector<OpId>& writes);

// What the recording, not the database, may have got wrong; empty if nothing comes to mind.
std::string recording_hint(Anomaly anomaly, const History& h);

}  // namespace assay::internal
