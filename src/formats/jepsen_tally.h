// Reads Jepsen's workloads bank and counter, in EDN or JSON, as additions and sums.
#pragma once

#include <string>

#include "assay/budget.h"
#include "assay/result.h"
#include "history/tally.h"

namespace assay::internal::formats {

// `path` is a file or "-". Fails on histories of other workloads.
Result<Tally> read_tally(const std::string& path, Budget* budget);
Result<Tally> read_tally_text(std::string_view text, const std::string& name);

}  // namespace assay::internal::formats
