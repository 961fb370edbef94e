// Audits a history that stays in place, and so survives if the audit ends with an exception.
#pragma once

#include "assay/audit.h"

namespace assay::internal {

// Decides, verifies and explains `audit.history`, and sets all that follows from it. `audit.file`
// is used in messages.
void audit_in_place(Audit& audit, const AuditOptions& options);

}  // namespace assay::internal
