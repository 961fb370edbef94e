// An audit that C holds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assay/assay_c.h"
#include "assay/audit.h"
#include "c_api/held_history.h"

namespace assay::internal::c_api {

struct VerdictText {
  std::string level, cause, reason, anomaly, explanation, hint;
};

}  // namespace assay::internal::c_api

struct assay_audit {
  std::shared_ptr<assay::internal::c_api::HeldHistory> held;
  mutable assay::Audit audit;  // its history is in `held`
  int64_t clock_drift = 0;
  std::vector<assay::internal::c_api::VerdictText> texts;

  // Makes the texts of the verdicts.
  void tell();
};
