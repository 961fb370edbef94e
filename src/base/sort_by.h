// Sorts things in ascending order of a number that each has; those with equal numbers keep their
// order.
//
// The standard sorts are compiled anew for each comparison, some three kilobytes of code each time.
// Here the numbers are sorted together with the places of their things, always by the same code,
// and then the things are moved to where they belong. It allocates memory, so it is not for a few
// things in an inner loop.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::internal {

using Numbered = std::pair<int64_t, uint32_t>;  // a number and its owner

// Sorts by number, and equal numbers by their owner.
void sort_numbered(std::vector<Numbered>& numbered);

// Packs two numbers into one that is ordered by the first, then by the second.
constexpr uint64_t pack(uint32_t first, uint32_t second) { return uint64_t{first} << 32 | second; }

// A signed number with the same order as the original.
template <std::integral Number>
constexpr int64_t with_sign(Number n) {
  if constexpr (std::is_unsigned_v<Number> && sizeof(Number) == sizeof(int64_t))
    return static_cast<int64_t>(n ^ (uint64_t{1} << 63));
  else
    return n;
}

template <class T, class NumberOf>
void stable_sort_by(std::span<T> things, NumberOf number_of) {
  if (things.size() < 2) return;
  std::vector<Numbered> numbered;
  numbered.reserve(things.size());
  for (const T& thing : things)
    numbered.emplace_back(with_sign(number_of(thing)), static_cast<uint32_t>(numbered.size()));
  sort_numbered(numbered);
  std::vector<T> sorted;
  sorted.reserve(things.size());
  for (const auto& [number, place] : numbered) sorted.push_back(std::move(things[place]));
  std::move(sorted.begin(), sorted.end(), things.begin());
}

template <class T, class NumberOf>
void stable_sort_by(std::vector<T>& things, NumberOf number_of) {
  stable_sort_by(std::span<T>(things), number_of);
}

}  // namespace assay::internal
