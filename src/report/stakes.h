// How much was at stake, in sentences.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace assay::internal {

// "At stake: 3 conflicts …", what could have been shown, and of what there was no candidate: of
// what a satisfied level rules out. Empty where no level is satisfied.
std::vector<std::string> stakes_in_sentences(const Audit& c);

}  // namespace assay::internal
