// Puts large arrays into large pages, if the system gives them on request: fewer page faults while
// they grow, and fewer misses of the address translation when they are accessed at random. Changes
// nothing else.
#pragma once

#include <cstddef>
#include <vector>

namespace assay::internal {

// Asks for large pages for the memory at `p`, for the whole large pages that it contains. To be
// called before the memory is touched.
void advise_huge_pages(const void* p, size_t bytes);

// Makes room for twice as many elements, in large pages if there are many.
template <class T>
void double_room(std::vector<T>& v) {
  std::vector<T> bigger;
  bigger.reserve(v.capacity() < 16 ? 16 : 2 * v.capacity());
  advise_huge_pages(bigger.data(), bigger.capacity() * sizeof(T));
  bigger.assign(v.begin(), v.end());
  v.swap(bigger);
}

// Adds `more` elements of value zero.
template <class T>
void lengthen(std::vector<T>& v, size_t more) {
  while (v.capacity() - v.size() < more) [[unlikely]] double_room(v);
  v.resize(v.size() + more);
}

// The bytes of memory that adding `more` elements touches: 0 while there is capacity, otherwise the
// copied elements and the new ones.
template <class Array>
size_t growth_bytes(const Array& a, size_t more) {
  if (a.size() + more <= a.capacity()) return 0;
  return (a.size() + more) * sizeof(typename Array::value_type);
}

template <class T>
void push_back_roomy(std::vector<T>& v, T value) {
  if (v.size() == v.capacity()) [[unlikely]]
    double_room(v);
  v.push_back(value);
}

}  // namespace assay::internal
