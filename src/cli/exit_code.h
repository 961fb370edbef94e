// The exit codes of the process. They are part of the contract with scripts.
#pragma once

#include "assay/certificate.h"
#include "assay/result.h"

namespace assay::internal::cli {

enum class Exit : int {
  satisfied = 0,  // also: done
  violated = 1,
  unknown = 2,
  bad_input = 3,
  usage = 4,   // also failures to read or write files
  skip = 125,  // `run --repeat`: not known, the code that `git bisect run` expects
};

Exit exit_code(const Error& e);
Exit exit_code(Outcome outcome);
// Returns the worse of the exit codes of two files: a failure (4) is worst, then violated, bad
// input, unknown, satisfied.
Exit worse(Exit a, Exit b);

}  // namespace assay::internal::cli
