#include "assay/check.h"

#include "audit/logged_order.h"
#include "audit/verified.h"
#include "levels/walk.h"

namespace assay {

CheckResult check(const History& history, const CheckOptions& options) {
  CheckResult result =
      internal::decide_levels(history, internal::with_logged_order(history, options));
  internal::verify_verdicts(result, history, options.budget.memory_only());
  return result;
}

}  // namespace assay
