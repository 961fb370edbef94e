// The check that --unique-values adds.
#pragma once

#include <string>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::formats {

// Checks that no value was written to a key twice, including aborted writes and deletions;
// otherwise an error that names both. If `file` is empty, lines are not named.
Status check_unique_values(const History& history, const std::string& file);

}  // namespace assay::internal::formats
