// Evidence that the timestamps do not explain a history: a sentence, and the relevant part of the
// transactions that it names.
#pragma once

#include "assay/result.h"
#include "watch/timestamp_replay.h"
#include "watch/watch.h"

namespace assay::internal::watch {

Result<Unexplained> evidence_of(const TimestampFault& fault, const TimestampReplay& replay,
                                LevelId level);

}  // namespace assay::internal::watch
