// Certificates of violation by cases: whichever of its possible sources each read has, something is wrong.
//
//   A { w(x,1) w(y,1) }   B { w(x,1) w(y,2) }   C { r(x,1) r(y,null) }     read atomic
//   1. given x from A: C saw A and reads the initial y            a proof, as without cases
//   2. given x from B: C saw B and reads the initial y            likewise
//   3. split: C's read of x is from A or B                        given nothing
//
// A proof may use the sources it is given as if each were the only possible one, and what follows from them about
// which transactions took effect. A split stands if every possible source is refuted by one of its cases, which
// needs, that source aside, no more than the split is given itself. The last case, given nothing, refutes the history.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/sources.h"

namespace assay::certify {

class CasesVerifier {
 public:
  CasesVerifier(const std::vector<Case>& cases, const History& history)
      : cases_(cases), history_(history), sources_(history) {}

  Status refutes(LevelId level);

 private:
  Status check(uint32_t index, LevelId level) const;
  Status check_given(const Case& c) const;
  Status check_split(uint32_t index, LevelId level) const;

  const std::vector<Case>& cases_;
  const History& history_;
  const Sources sources_;
};

}  // namespace assay::certify
