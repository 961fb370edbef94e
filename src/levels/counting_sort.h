// Sorting by one of many small numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace assay::internal {

// Sorts by `number_of(id)`, which is less than `numbers`. Stable, and linear in the ids and the
// numbers.
template <class NumberOf>
void counting_sort(std::vector<uint32_t>& ids, size_t numbers, NumberOf number_of) {
  std::vector<uint32_t> next(numbers + 1, 0), sorted(ids.size());
  for (const uint32_t id : ids) ++next[number_of(id) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (const uint32_t id : ids) sorted[next[number_of(id)]++] = id;
  ids.swap(sorted);
}

}  // namespace assay::internal
