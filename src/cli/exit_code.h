// What the process returns. Part of the contract with scripts.
#pragma once

#include "assay/result.h"

namespace assay::internal::cli {

enum class Exit : int {
  satisfied = 0,  // or: done
  violated = 1,
  unknown = 2,
  bad_input = 3,
  usage = 4,   // or reading and writing files
  skip = 125,  // of `run --repeat`: it is not known, as `git bisect run` wants to hear it
};

Exit exit_code(const Error& e);
// Of several files: what could not be done at all (4), then violated, bad input, unknown,
// satisfied.
Exit worse(Exit a, Exit b);

}  // namespace assay::internal::cli
