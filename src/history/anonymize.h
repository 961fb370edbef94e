// A history that may be shown to others: its structure, order and verdicts, and nothing else of it.
#pragma once

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal {

// Keys, values, sessions and transactions become numbers, and the numbers of keys are in the order
// of the keys; the database's own times become their ranks; the clock starts at 0 and durations
// stay. Metadata, snapshots, positions in the source and events go, except for events that say up
// to when the stated orders are complete. Every level has the same verdict. Fails with bad input if
// ranges have conditions, since these look into values.
Result<History> anonymized(const History& history);

}  // namespace assay::internal
