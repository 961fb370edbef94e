#include "assay/check.h"

#include "audit/verified.h"
#include "levels/walk.h"

namespace assay {

CheckResult check(const History& history, const CheckOptions& options) {
  CheckResult result = internal::decide_levels(history, options);
  internal::verify_verdicts(result, history, options.budget.memory_only());
  return result;
}

}  // namespace assay
