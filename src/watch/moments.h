// Addition and subtraction of times, which stop at the ends of the clock's range.
#pragma once

#include <cstdint>

#include "assay/history.h"

namespace assay::internal::watch {

inline int64_t less(int64_t time, int64_t by) {
  return time < Interval::kUnknown + by ? Interval::kUnknown : time - by;
}

inline int64_t later(int64_t time, int64_t by) {
  return time > Interval::kOpen - by ? Interval::kOpen : time + by;
}

}  // namespace assay::internal::watch
