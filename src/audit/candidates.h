// The anomalies that a history's transactions could have shown if the database had done wrong.
#pragma once

#include "assay/audit.h"
#include "history/contention.h"

namespace assay::internal {

// The anomalies for which a history can lack candidates, in the order of Anomaly. A read or two
// suffice for all others.
std::span<const Anomaly> anomalies_with_candidates();
// Whether a history that satisfies the level cannot have the anomaly, which must be one of these.
bool rules_out(LevelId level, Anomaly anomaly);

// A history that has one of these anomalies has a candidate for it: each condition is necessary for
// the anomaly, whatever was read. O(accesses).
Stakes stakes_of(const History& history, const Contention& contention);

// For --require-contention: turns satisfied verdicts into unknown ones if no conflict of
// overlapping transactions could have shown anything that the level rules out. True if it turned
// any.
bool withhold_uncontended(CheckResult& result, const Stakes& stakes);

}  // namespace assay::internal
