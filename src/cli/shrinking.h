// Writes the smallest part of a checked history that still violates a level to a file; used by
// `shrink` and by runs that hunt.
#pragma once

#include <string>
#include <vector>

#include "cli/checking.h"

namespace assay::internal::cli {

// The SQL that repeats the violation: where to write it, and where to play it first.
struct SqlFlags {
  std::string file;  // empty: none
  std::vector<std::string> databases;
  std::string isolation;
  bool where_possible = false;  // a history that SQL cannot repeat is not an error
};

Exit write_smallest(const Audit& checked, LevelId level, const CheckFlags& flags,
                    const std::string& output, const std::string& format, const SqlFlags& sql = {});

}  // namespace assay::internal::cli
