// The events of a history that the reports draw: those that happened to the database. The
// recorder's notes are in the history, but are no part of the run: the connection of each session,
// where the server's log begins, how far the orders go.
#pragma once

#include "assay/history.h"

namespace assay::internal {

bool is_drawn(const Event& event);

}  // namespace assay::internal
