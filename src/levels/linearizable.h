// Linearizability, key by key. See linearizable.cc.
#pragma once

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/check.h"
#include "infer/problem.h"
#include "levels/stages.h"

namespace assay::internal {

// Whether the history can be decided key by key: every committed transaction has times, all that may
// count are one operation on one key that is no list, and no version orders are stated.
bool decidable_by_key(const Problem& problem);

struct LinearizableVerdict {
  Outcome outcome = Outcome::unknown;
  Unknown reason;           // of an unknown; empty if another way must settle it
  Certificate certificate;  // otherwise; its levels are left open
};

LinearizableVerdict decide_by_key(const Problem& problem, const SpeedUps& speed_ups, Stages& stages,
                                  Budget& budget);

}  // namespace assay::internal
