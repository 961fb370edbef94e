// The core of a refutation: the one of its cycles to show, with the orders of writers that the
// others force; or if no single cycle suffices, the cases, and the contradiction of each. See
// refutation.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/certificate.h"

namespace assay::internal {

// What follows from a proof, and the step that forces it.
struct Forced {
  Literal literal;
  uint32_t step = kNone;
};

struct Conclusion {
  // The contradiction. Every order it assumes is in `forced`, unless case_split.
  std::vector<Edge> cycle;
  std::vector<Forced> forced;  // orders, as they follow from each other
  // True if no single cycle contradicts: each way of ordering the writers closes some other cycle,
  // and `cycle` is only the shortest of them.
  bool case_split = false;
  uint32_t step = kNone;  // index of `cycle`'s step in the proof
};

// The cheapest.
Conclusion conclude(const Proof& proof);

// The same contradiction from its other end: the last order forced, a before b, was forced because
// b before a closes a cycle, and `cycle` is closed by a before b. Here the latter forces b before
// a, and the former is the cycle. Empty if nothing was forced.
Conclusion other_end(const Conclusion& c, const Proof& proof);

struct CaseNode {
  Literal supposed;              // not of the first
  std::vector<Forced> forced;    // what follows on the way to the contradiction, in this order
  uint32_t contradicts = kNone;  // a step of the proof; kNone where the case is divided
  uint32_t first = kNone, second = kNone;  // its two cases
};

struct CaseTree {
  std::vector<CaseNode> nodes;  // the first is the whole; none if the limit was reached
  uint32_t cases = 0;           // that are not divided further
};

// None if one chain of forced orders ends in the contradiction.
std::optional<CaseTree> case_tree(const Proof& proof);

}  // namespace assay::internal
