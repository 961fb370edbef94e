// How the operands of a range are stored (OpKind::range, History::selected): two bounds, the
// condition, the aggregate, the numbers of returned and of skipped rows; then these rows, and the
// keys of the matched rows.
#pragma once

#include <cstddef>

namespace assay::internal {

inline constexpr size_t kRangeHead = 6;

}  // namespace assay::internal
