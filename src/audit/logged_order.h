// An expected order that is the database's log.
#pragma once

#include "assay/check.h"

namespace assay::internal {

// The options for deciding the levels of this history: an order by the log gets the names that the log has.
CheckOptions with_logged_order(const History& history, CheckOptions options);

}  // namespace assay::internal
