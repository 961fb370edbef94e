// How the operands of a range are stored (OpKind::range, History::selected): two bounds, the
// condition, the aggregate, how many rows were returned and how many passed over; then these rows,
// and the keys of those that matched.
#pragma once

#include <cstddef>

namespace assay::internal {

inline constexpr size_t kRangeHead = 6;

}  // namespace assay::internal
