// A schedule as a history: what clients would have recorded if the transactions had run in this
// way.
#pragma once

#include "assay/history.h"
#include "assay/result.h"
#include "certify/schedule.h"

namespace assay::internal::predict {

// The schedule must be one that its isolations allow. Every transaction has a separate session, and
// times that are the places of its first event and its commit. Initially, keys hold the versions
// that members read and no member wrote; the orders of versions are stated, if `states_orders`.
Result<History> predicted_history(const certify::Schedule& schedule, const History& history,
                                  bool states_orders);

}  // namespace assay::internal::predict
