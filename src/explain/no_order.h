// The story of a key whose operations cannot be put in order.
#pragma once

#include "assay/certificate.h"
#include "assay/explanation.h"

namespace assay::internal {

void explain_exhausted(const History& history, const Exhausted& exhausted, Explanation& e);

}  // namespace assay::internal
