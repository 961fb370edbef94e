#include "assay/check.h"

#include <algorithm>

#include "audit/verified.h"
#include "levels/walk.h"

namespace assay {

bool ExpectedOrderResult::explains() const {
  return std::ranges::any_of(
      replays, [](const OrderReplay& r) { return r.fault == OrderReplay::Fault::none; });
}

CheckResult check(const History& history, const CheckOptions& options) {
  CheckResult result = internal::decide_levels(history, options);
  internal::verify_verdicts(result, history, options.budget.memory_only(), options.threads);
  return result;
}

}  // namespace assay
