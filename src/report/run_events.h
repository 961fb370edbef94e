// The events of a history that the reports draw: the ones that happened to the database.
#pragma once

#include "assay/history.h"

namespace assay::internal {

bool is_drawn(const Event& event);

}  // namespace assay::internal
