// Executions of recorded transactions that a weak level allows and that are not serializable, with
// the sessions kept and some reads from other sources: the question of IsoPredict (PLDI 2024).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/budget.h"
#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/boundary.h"

namespace assay::internal::predict {

struct OtherSources {
  // Each transaction that is cut stops at the one read that changes: whatever the application does
  // then, this has happened. IsoPredict's strict boundary, its default.
  std::optional<certify::Boundary> stops;
  // Each goes on as recorded, and any of its reads may change: the relaxed boundary. It
  // exists wherever `stops` does, and is not looked for any more then.
  std::optional<certify::Boundary> goes_on;
  uint64_t allowed = 0;     // executions that the level allows, of those looked at
  bool complete = false;    // what is not here does not exist
  std::string reason = {};  // not complete: a clause
};

// Fails where the history holds what cannot be predicted. `level`: causal or read_committed.
Result<OtherSources> find_other_sources(const History& history, LevelId level, Budget& budget);

}  // namespace assay::internal::predict
