// Certificates that a value was overwritten more often than it was there: a committed transaction that read a value
// of a key and then wrote the key needs, where no update is lost, a write of that value (or the initial one) for
// itself. The verifier counts both for the value that the named operation read.
#pragma once

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::certify {

Status check_overdrawn(const History& history, OpId read);

}  // namespace assay::internal::certify
