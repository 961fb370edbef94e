// `run --repeat`: repeats the same run with one seed after the other, and reports how often a level
// is violated. After a fix it says whether enough runs were clean, and its exit codes suit `git
// bisect run`.
#pragma once

#include <cstdint>

#include "cli/checking.h"
#include "cli/exit_code.h"
#include "collect/run.h"

namespace assay::internal::cli {

struct RepeatFlags {
  uint64_t runs = 0;  // 0: not asked for
  double confidence = 0.99;
  bool fail_fast = false;
};

// `flags` name the levels.
Exit repeat(collect::RunOptions options, const RepeatFlags& repeat, const CheckFlags& flags);

}  // namespace assay::internal::cli
