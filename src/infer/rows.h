// Rows of variable length in one array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay::internal {

template <class T>
struct Rows {
  std::vector<uint32_t> begin{0};  // size rows + 1
  std::vector<T> items;

  std::span<const T> operator[](size_t row) const {
    return {items.data() + begin[row], begin[row + 1] - begin[row]};
  }
  size_t rows() const { return begin.size() - 1; }
  // Makes a row of the items after the last row.
  void close() { begin.push_back(static_cast<uint32_t>(items.size())); }
};

// Turns (row, item) pairs, given by two passes of `visit`, into rows. Items of a row keep the order
// in which they are visited.
template <class T, class Visit>
Rows<T> collect_rows(size_t rows, Visit visit) {
  Rows<T> out;
  out.begin.assign(rows + 1, 0);
  visit([&](size_t row, const T&) { ++out.begin[row + 1]; });
  for (size_t i = 0; i < rows; ++i) out.begin[i + 1] += out.begin[i];
  out.items.resize(out.begin[rows]);
  std::vector<uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  visit([&](size_t row, const T& item) { out.items[next[row]++] = item; });
  return out;
}

template <class Row, class T>
Rows<T> collect_rows(size_t rows, const std::vector<std::pair<Row, T>>& pairs) {
  return collect_rows<T>(rows, [&](auto add) {
    for (const auto& [row, item] : pairs) add(row, item);
  });
}

}  // namespace assay::internal
