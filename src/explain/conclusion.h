// What a refutation comes down to: of all its cycles, the one to show, and the orders of writers
// that the others force.
#pragma once

#include <vector>

#include "assay/certificate.h"

namespace assay::internal {

// An order of two writers that the proof forces, and the step that forces it.
struct ConcludedOrder {
  Literal pair;
  uint32_t step = kNone;
};

struct Conclusion {
  // The contradiction. Every order it assumes is in `forced`, unless case_split.
  std::vector<Edge> cycle;
  // In the order in which they follow from each other.
  std::vector<ConcludedOrder> forced;
  // True if no single cycle contradicts: each way of ordering the writers closes some other cycle,
  // and `cycle` is only the shortest of them.
  bool case_split = false;
  uint32_t step = kNone;  // where `cycle` stands in the proof
  // Cycles the contradiction rests on, itself included.
  uint32_t cycle_count = 0;
};

Conclusion conclude(const Proof& proof);

// The same contradiction from its other end: the last order forced, a before b, was forced because
// b before a closes a cycle, and `cycle` is closed by a before b. Here the latter forces b before
// a, and the former is the cycle. Empty if nothing was forced.
Conclusion other_end(const Conclusion& c, const Proof& proof);

}  // namespace assay::internal
