// The log of a database, read afterwards for a run that was killed.
#pragma once

#include <string>
#include <vector>

#include "assay/result.h"
#include "collect/version_log.h"

namespace assay::internal::evidence {

// Appends to the history at `path` what the log of the database at `urls` says of it. Fails where
// the history has that, or is no uncompressed one of `assay run`, where it is still being recorded,
// or where another run has prepared the database since.
Result<collect::VersionLogReport> recover_version_orders(const std::string& path,
                                                         const std::vector<std::string>& urls);

}  // namespace assay::internal::evidence
