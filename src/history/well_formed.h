// The conditions that every history satisfies, however it was built. Each check fails at the first
// transaction at fault. Linear in the history.
#pragma once

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal {

// A list is empty before the first append: no key that is used as a list may have a separate
// initial value.
Status lists_begin_empty(const History& h);

// Fails unless the events of a session can have happened one after the other, each within its
// interval: intervals may overlap as long as each event has a moment left that is not before the
// moments of the events before it.
Status sessions_run_forwards(const History& h);

}  // namespace assay::internal
