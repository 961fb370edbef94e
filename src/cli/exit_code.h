// What the process returns. Part of the contract with scripts.
#pragma once

#include "assay/certificate.h"
#include "assay/result.h"

namespace assay::internal::cli {

enum class Exit : int {
  satisfied = 0,  // or: done
  violated = 1,
  unknown = 2,
  bad_input = 3,
  usage = 4,   // or reading and writing files
  skip = 125,  // of `run --repeat`: not known, in the way that `git bisect run` expects
};

Exit exit_code(const Error& e);
Exit exit_code(Outcome outcome);
// Of several files: a failure (4) is worst, then violated, bad input, unknown, satisfied.
Exit worse(Exit a, Exit b);

}  // namespace assay::internal::cli
