// The smallest part of a checked history that still violates a level, written to a file. For `shrink` and for runs
// that hunt.
#pragma once

#include <string>

#include "cli/checking.h"

namespace assay::internal::cli {

Exit write_smallest(const Audit& checked, LevelId level, const CheckFlags& flags,
                    const std::string& output, const std::string& format);

}  // namespace assay::internal::cli
