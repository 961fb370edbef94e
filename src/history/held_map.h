// What is kept for each of many keys. A look costs two places in memory, where std::unordered_map,
// whose elements hang together in chains, costs three or four; and there is one for each operation.
#pragma once

#include <tsl/ordered_map.h>

#include "history/held_value.h"

namespace assay::internal {

// Asked with views. Elements stay where they are while others are added; `unordered_erase` moves
// the last one into the gap.
template <class T>
using HeldMap = tsl::ordered_map<HeldValue, T, HeldHash, HeldEqual>;

}  // namespace assay::internal
