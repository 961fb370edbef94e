// Makes vectors grow within a memory limit.
#pragma once

#include <algorithm>
#include <vector>

#include "assay/budget.h"

namespace assay::internal {

// To be called before `more` elements are appended: if the vector has to grow, asks the budget for
// the memory that it will move to. False, with the vector unchanged, if the budget has run out.
template <class T>
bool make_room(std::vector<T>& items, size_t more, Budget& budget) {
  constexpr size_t kSmallBytes = size_t{1} << 20;  // for less the budget is not asked
  const size_t wanted = items.size() + more;
  if (wanted <= items.capacity()) return true;
  const size_t capacity = std::max(wanted, items.capacity() + items.capacity() / 2);
  if (capacity * sizeof(T) >= kSmallBytes && !budget.has_room(capacity * sizeof(T))) return false;
  items.reserve(capacity);
  return true;
}

// The same, and polls the budget like `exhausted`.
template <class T>
bool room_to_grow(std::vector<T>& items, size_t more, Budget& budget) {
  return make_room(items, more, budget) && !budget.exhausted();
}

}  // namespace assay::internal
