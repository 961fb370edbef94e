// What an engine found of one level, with what its certificate is made of.
#pragma once

#include "assay/budget.h"
#include "assay/certificate.h"

namespace assay::internal {

struct LevelVerdict {
  Outcome outcome = Outcome::unknown;
  Unknown reason;  // of an unknown
  Order order;     // satisfied
  Proof proof;     // violated
};

}  // namespace assay::internal
