// What a transaction that took effect left behind.
#pragma once

#include <vector>

#include "collect/step.h"

namespace assay::internal::collect {

struct Version {
  Value key;
  Value value;  // null: deleted
};

// Of each key the last value, or that it was deleted; of a list every element that was appended. In
// the order of the steps.
std::vector<Version> left_behind(const TxnRecord& record);

}  // namespace assay::internal::collect
