// The checker and the verifier together, as something that can be compared with the oracle.
#pragma once

#include <string>

#include "assay/check.h"
#include "oracle/selftest.h"

namespace assay {

// Verdicts of check() on every level. A verdict without a certificate that verify() accepts comes
// back inverted, so that whoever compares sees a disagreement; `complaint` says what is wrong.
oracle::Verdicts checked(const History& history, std::string* complaint,
                         const Switches& switches = {});

}  // namespace assay
