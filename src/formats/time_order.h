// The lines of a history in `assay` JSON Lines in the order in which their transactions began,
// however many there are.
//
//   {"session":1,"begin":9,…}        {"session":2,"begin":3,…}
//   {"session":2,"begin":3,…}   ->   {"session":1,"begin":9,…}
//
// Lines are collected as far as memory goes and sorted, and each such run is written to a file
// without a name, which the system removes however the process ends; then the runs are merged.
// Lines of a session stay in their order, and so do lines with the same begin. A line without a
// begin stays after its session's previous line, an event after everything before it, and the
// header in front.
//
// Cost: each line is written and read once more; nothing is written if one run is enough.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "assay/budget.h"
#include "assay/result.h"
#include "formats/input.h"

namespace assay::internal::formats {

struct TimeOrderOptions {
  uint64_t memory = uint64_t{256} << 20;  // for the lines of one run
  std::string folder = {};                // for the runs; empty: the folder of temporary files
  Budget* budget = nullptr;               // may be null
};

// Reads all of `lines`. The source may be read as long as the process has memory for its files.
Result<std::unique_ptr<ByteSource>> in_order_of_time(Input& lines, const TimeOrderOptions& options);

}  // namespace assay::internal::formats
