// A refutation that no single cycle tells: which cases there are, and what each of them contradicts.
//
//   1 and 2 wrote x, 3 and 4 wrote y, and each of the four ways to order both pairs closes a cycle of its own. So none of the
//   four is the violation; it is that all of them are closed:
//
//   suppose 1 before 2
//     suppose 3 before 4    closes one cycle
//     suppose 4 before 3    closes another
//   suppose 2 before 1      ...
//
// The tree is found among the proof's own clauses, without those that it derives, as a solver would (Davis, Logemann and
// Loveland 1962): what a supposition forces is settled first, and where nothing is forced the literal is supposed, either way,
// that forces most. A case that does without what is supposed stands for both. Smaller trees may exist. Cost: the literals that
// are tried at each division times the proof's size, up to a limit; a proof that needs more has no tree here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/certificate.h"

namespace assay::internal {

struct CaseNode {
  Literal supposed;              // not of the first
  std::vector<Literal> forced;   // what follows on the way to the contradiction, in this order
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
