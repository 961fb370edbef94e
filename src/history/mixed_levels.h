// The level that a transaction is held to if levels are mixed (docs/levels/mixed.md).
#pragma once

#include <optional>

#include "assay/history.h"

namespace assay::internal {

// nullopt if the transaction declares no level, or one that cannot be mixed.
inline std::optional<LevelId> held_to(const History& h, TxnId t) {
  const std::optional<LevelId> declared = h.declared_level(t);
  return declared ? mixable(*declared) : std::nullopt;
}

}  // namespace assay::internal
