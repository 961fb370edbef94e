// The versions that a transaction which took effect left.
#pragma once

#include <vector>

#include "collect/step.h"

namespace assay::internal::collect {

struct Version {
  Value key;
  Value value;  // null: deleted
};

// The last value of each key, or its deletion, and every element appended to a list; in the order
// of the steps.
std::vector<Version> left_behind(const TxnRecord& record);

}  // namespace assay::internal::collect
