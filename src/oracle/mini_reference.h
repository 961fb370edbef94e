// Decides mini-transactions exactly as MTC does: by dependencies with the transitive closure of
// write dependencies.
//
//   s1: { r(x,0) w(x,1) }   s2: { r(x,1) w(x,2) }   s3: { r(x,0) r(y,0) }
//   A reader that also writes follows the writer that it read: T1 before T2. T3 read what T1
//   overwrote, and by the closure what T2 overwrote: anti-dependencies to both.
//
// Every write follows a read of its key, so these chains order all writers of a key, or two of them
// read one version (divergence), which snapshot isolation never allows and which closes a cycle of
// anti-dependencies at the other two levels. The checker works without the closure; its verdicts
// are compared with these. Source: Wei et al., MTC, algorithm 1.
#pragma once

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"

namespace assay::internal::oracle {

// Decides session-si, session-serializable and strict-serializable; unknown for other levels, for
// histories with transactions that are not mini-transactions or have an unknown outcome, and if the
// level needs times that are missing.
Outcome by_mini_transactions(const History& history, LevelId level);

}  // namespace assay::internal::oracle
