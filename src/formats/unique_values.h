// What --unique-values asks of a history.
#pragma once

#include <string>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::formats {

// Whether no value was written to a key twice, aborted writes and deletions included; if one was,
// an error that names both. `file` may be empty: lines are not named then.
Status check_unique_values(const History& history, const std::string& file);

}  // namespace assay::internal::formats
