// Values, numbered from 0 in the order in which they are first asked for.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "history/held_value.h"

namespace assay::internal {

class ValueNumbers {
 public:
  int64_t of(const ValueView& v) {
    const auto known = numbers_.find(v);
    if (known != numbers_.end()) return known->second;
    const auto next = static_cast<int64_t>(numbers_.size());
    return numbers_.emplace(v, next).first->second;
  }

 private:
  std::unordered_map<HeldValue, int64_t, HeldHash, HeldEqual> numbers_;
};

}  // namespace assay::internal
