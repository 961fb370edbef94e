// The log of a database, read afterwards for a killed run.
#pragma once

#include <string>
#include <vector>

#include "assay/result.h"
#include "collect/version_log.h"

namespace assay::internal::evidence {

// Appends the version orders in the log of the database at `urls` to the history at `path`. Fails
// if the history already has them, is not an uncompressed one of `assay run` or is still being
// recorded, or if another run has prepared the database since.
Result<collect::VersionLogReport> recover_version_orders(const std::string& path,
                                                         const std::vector<std::string>& urls);

}  // namespace assay::internal::evidence
