// What a history has to be, whoever built it. Each fails at the first transaction that is to blame.
// Linear in the history.
#pragma once

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal {

// A list that nobody has appended to is empty: no key that is used as one has an initial value of
// its own.
Status lists_begin_empty(const History& h);

// The events of a session happened one after the other, each within its interval: intervals may
// overlap as long as each event has a moment left that is not before those of the events before it.
Status sessions_run_forwards(const History& h);

}  // namespace assay::internal
