// Options of reading and checking, as C sets them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/assay_c.h"
#include "assay/audit.h"
#include "assay/budget.h"
#include "assay/level.h"

struct assay_options {
  std::vector<assay::LevelId> levels;
  double seconds = 0;
  uint64_t memory_bytes = 0;
  unsigned threads = 0;
  int64_t clock_drift = 0;
  bool allow_empty = false;
  bool aborted_reads = false;
  bool require_contention = false;
  uint32_t sessions = 0;
  int64_t lateness = 10'000'000'000;
  size_t horizon = 0;
  std::string format;
  bool unique_values = false;
};

namespace assay::internal::c_api {

// Null means the defaults.
const assay_options& given(const assay_options* options);
// The budget, which begins now.
Budget budget_of(const assay_options& options);
AuditOptions audit_options(const assay_options& options);

}  // namespace assay::internal::c_api
