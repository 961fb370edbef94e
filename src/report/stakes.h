// Sentences on how much was at stake in a history.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace assay::internal {

// "At stake: 3 conflicts …", and which anomalies could have been shown and which had no candidate:
// both among the anomalies that a satisfied level rules out. Empty if no level is satisfied.
std::vector<std::string> stakes_in_sentences(const Audit& c);

}  // namespace assay::internal
