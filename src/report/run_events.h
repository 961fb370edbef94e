// Which events of a history the reports draw: what happened to the database. What the recorder
// notes for itself stands in the history, but is no part of the run: which connection is whose,
// where the server's log begins, how far the orders go.
#pragma once

#include "assay/history.h"

namespace assay::internal {

bool is_drawn(const Event& event);

}  // namespace assay::internal
