// A guess at when things happened, to start from. Never trusted: it only decides what is tried
// first.
#pragma once

#include "infer/problem.h"

namespace assay::internal {

// Looks at everything else of the problem.
Hint make_hint(const Problem& problem);

// The nodes in the order of their writes, those at the same time in their own.
std::vector<Node> by_write_time(const Hint& hint);

}  // namespace assay::internal
