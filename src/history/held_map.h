// A map from key to state for many keys.
#pragma once

#include <tsl/ordered_map.h>

#include "history/held_value.h"

namespace assay::internal {

// Look-ups take views. Elements keep their places while others are added; `unordered_erase` moves
// the last one into the gap.
template <class T>
using HeldMap = tsl::ordered_map<HeldValue, T, HeldHash, HeldEqual>;

}  // namespace assay::internal
