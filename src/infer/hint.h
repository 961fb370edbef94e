// A guess at when things happened, to start from. Never trusted: it only decides what is tried
// first.
#pragma once

#include "infer/problem.h"

namespace assay::internal {

// Looks at everything else of the problem.
Hint make_hint(const Problem& problem);

}  // namespace assay::internal
