// What a history could have shown: the anomalies that its transactions, had the database done
// wrong, could have had between them.
#pragma once

#include "assay/audit.h"
#include "history/contention.h"

namespace assay::internal {

// Anomalies that a history can lack candidates for, in the order of Anomaly. A read or two suffice
// for all others.
std::span<const Anomaly> anomalies_with_candidates();
// Whether a history that satisfies the level cannot have the anomaly, one of these.
bool rules_out(LevelId level, Anomaly anomaly);

// A history that has one of these anomalies has a candidate for it: each condition is necessary for
// the anomaly, whatever was read. O(accesses).
Stakes stakes_of(const History& history, const Contention& contention);

// --require-contention: turns satisfied verdicts into unknown ones where no conflict of overlapping
// transactions could have shown anything that the level rules out. True if it turned any.
bool withhold_uncontended(CheckResult& result, const Stakes& stakes);

}  // namespace assay::internal
