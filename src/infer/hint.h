// A guess at when things happened, to start from. Never trusted: it only decides what is tried
// first.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/reads_from.h"

namespace assay::internal {

// Per node; comparable numbers without a unit.
struct Hint {
  std::vector<int64_t> read_time;
  std::vector<int64_t> write_time;
};

Hint make_hint(const History& history, const ReadsFrom& rf);

}  // namespace assay::internal
