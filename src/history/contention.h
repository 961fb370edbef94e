// How contended a history was.
#pragma once

#include <cstdint>

#include "assay/history.h"

namespace assay::internal {

// How many committed transactions another session's committed transaction overlaps in time and meets on a key that one of the
// two wrote. A range meets every write. What no time is known of overlaps nothing. O(operations · log operations).
//
//   s1: { r(x,0) w(x,1) }     at the same time     s2: { r(x,0) r(y,0) }     both count
uint64_t count_contended(const History& history);

}  // namespace assay::internal
