// Certificates of violation by refutation: no choice of version orders avoids every cycle.
//
//   s1: A { r(x,0) w(x,1) }   s2: B { r(x,0) w(x,2) }     snapshot isolation
//   1. cycle  B -rw x-> A -ww x-> B            clause: not A < B
//   2. cycle  A -rw x-> B -ww x-> A            clause: not B < A
//   3. derived, from 1 and 2                              empty
//
// For each pair of writers one of the two comes first, so the steps are about one variable per
// pair. If several transactions may have left what an operation saw, each of them is a variable,
// too, and one of them is the writer. A cycle (cycle_verifier.h) forbids that all its assumptions
// hold, a fact is one that the history states, and the rest follows by unit propagation
// (resolution.h) until nothing is left to choose.
#pragma once

#include <span>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/evidence.h"

namespace assay::internal::certify {

class ProofVerifier {
 public:
  ProofVerifier(const Proof& proof, const Lookups& lookups) : proof_(proof), lookups_(lookups) {}

  Status supports(LevelId level);

 private:
  // Results that are computed once for all levels with the same rule of reads.
  struct Found {
    Found(const Lookups& lookups, ReadRule rule) : evidence(lookups, rule) {}
    Evidence evidence;
    bool resolved = false;
  };
  Found& found(ReadRule rule);
  Status check_cycles(LevelId level, Evidence& evidence);
  Status check_resolution(Evidence& evidence);
  Status check_step_shape(const ProofStep& step) const;

  const Proof& proof_;
  const Lookups& lookups_;
  std::optional<Found> clean_, dirty_;
};

}  // namespace assay::internal::certify
