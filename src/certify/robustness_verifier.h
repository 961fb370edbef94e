// Verifies that programs hold (certify/robustness.h): for every cut of every one of their
// transactions, why it leads nowhere.
#pragma once

#include "assay/history.h"
#include "assay/result.h"
#include "certify/footprints.h"
#include "certify/robustness.h"

namespace assay::internal::certify {

class RobustnessVerifier {
 public:
  // Fails if no program can hold for this history (certify/footprints.h). The history must outlive
  // the object.
  static Result<RobustnessVerifier> of(const History& history);

  Status verify(const Robustness& claim) const;

 private:
  RobustnessVerifier(const History& history, Footprints footprints)
      : history_(&history), footprints_(std::move(footprints)) {}

  const History* history_;
  Footprints footprints_;
};

}  // namespace assay::internal::certify
