// `assay verify` for a chain of certificates.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace assay::internal::cli {

// Whether the file is a chain.
bool is_chain(const std::string& path);
// Verifies the chain while it reads its history, in memory that grows with neither.
Exit verify_chain(const std::string& path, const std::vector<std::string>& histories);

}  // namespace assay::internal::cli
