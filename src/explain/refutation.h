// The core of a refutation: the cycle to show, with the orders of writers that the others force; or
// if no single cycle suffices, the cases, and the contradiction of each. See refutation.cc.
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
  // The contradiction. Every order that the cycle assumes is in `forced`, unless case_split.
  std::vector<Edge> cycle;
  std::vector<Forced> forced;  // orders, each of which follows from the ones before
  // Whether no single cycle is a contradiction: each way of ordering the writers closes some other
  // cycle, and `cycle` is only the shortest of them.
  bool case_split = false;
  uint32_t step = kNone;  // index of `cycle`'s step in the proof
};

// The cheapest conclusion of the proof.
Conclusion conclude(const Proof& proof);

// The same contradiction from its other end: the last order forced, a before b, was forced because
// b before a closes a cycle, and `cycle` is closed by a before b. Here the latter forces b before
// a, and the former is the cycle. Empty if nothing was forced.
Conclusion other_end(const Conclusion& c, const Proof& proof);

struct CaseNode {
  Literal supposed;              // unused in the first node
  std::vector<Forced> forced;    // what follows on the way to the contradiction, in this order
  uint32_t contradicts = kNone;  // a step of the proof; kNone if the case is divided
  uint32_t first = kNone, second = kNone;  // its two cases
};

struct CaseTree {
  std::vector<CaseNode> nodes;  // the first is the whole; empty if the limit was reached
  uint32_t cases = 0;           // number of cases that are not divided further
};

// The cases of a proof; nullopt if one chain of forced orders ends in the contradiction.
std::optional<CaseTree> case_tree(const Proof& proof);

}  // namespace assay::internal
