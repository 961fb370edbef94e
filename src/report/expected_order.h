// What the replay of an expected order came to, in sentences.
#pragma once

#include <string>
#include <vector>

#include "assay/check.h"

namespace assay::internal {

// Empty if none was asked for.
std::vector<std::string> expected_order_sentences(const History& history,
                                                  const CheckResult& result);
// "operation", "overlap", "session"; empty for none.
std::string_view order_fault_name(OrderReplay::Fault fault);

}  // namespace assay::internal
