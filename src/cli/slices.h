// `check --slices`: decides a history larger than memory.
#pragma once

#include <string>
#include <vector>

#include "cli/checking.h"
#include "cli/exit_code.h"

namespace assay::internal::cli {

// Whether the history is to be decided in slices: because that was requested, or because it would
// not fit into --memory and the levels allow it.
bool decides_in_slices(const std::string& path, const CheckFlags& flags);

// Checks the history, and prints and writes the result.
Exit check_in_slices(const std::string& path, const CheckFlags& flags);

}  // namespace assay::internal::cli
