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
  // In this execution, each transaction that is cut stops at the one read that changes: whatever
  // the application does then, this much has happened. This is IsoPredict's strict boundary, its
  // default.
  std::optional<certify::Boundary> stops;
  // In this execution, each goes on as recorded, and any of its reads may change: the relaxed
  // boundary. It exists wherever `stops` does, and is not looked for in that case.
  std::optional<certify::Boundary> goes_on;
  uint64_t allowed = 0;     // number of executions examined that the level allows
  bool complete = false;    // whether what was not found does not exist
  std::string reason = {};  // if not complete: a clause
};

// Fails if the history contains what cannot be predicted. `level`: causal or read_committed.
Result<OtherSources> find_other_sources(const History& history, LevelId level, Budget& budget);

}  // namespace assay::internal::predict
