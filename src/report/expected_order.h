// The result of replaying an expected order, in sentences.
#pragma once

#include <string>
#include <vector>

#include "assay/check.h"

namespace assay::internal {

// Returns no sentences if no order was expected.
std::vector<std::string> expected_order_sentences(const History& history,
                                                  const CheckResult& result);
// Returns "operation", "overlap" or "session"; empty if there is no fault.
std::string_view order_fault_name(OrderReplay::Fault fault);

}  // namespace assay::internal
