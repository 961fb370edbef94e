// The place in the repository where a violation belongs, for annotations of a change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/report.h"

namespace assay::internal {

struct SourcePlace {
  std::string file;   // from the root of the repository
  uint64_t line = 0;  // 0: the whole file
};

// The statement of its transactions, the test that recorded them, or the file of the workload, in
// this order; the first that is a file below $GITHUB_WORKSPACE, or else below the current folder.
// nullopt if none is.
std::optional<SourcePlace> source_place(const Audit& c, const Explanation& e);

}  // namespace assay::internal
