// The situations that a search has entered, by a 128-bit hash each. One array with linear probing:
// 16 bytes a slot, at most two thirds of them full, and nothing to free one by one at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/budget.h"

namespace assay::internal {

struct Situation {
  uint64_t a = 0, b = 0;
  friend bool operator==(const Situation&, const Situation&) = default;
};

class SituationSet {
 public:
  size_t size() const { return size_; }

  // Returns false if it is there already. If there is no memory to grow, exhausts the budget and
  // does not store the situation.
  bool insert(Situation s, Budget& budget) {
    if (s == kEmpty) s.a = 1;
    if (3 * (size_ + 1) > 2 * slots_.size() && !grow(budget)) return true;
    Situation& slot = find(slots_, s);
    if (slot == s) return false;
    slot = s;
    ++size_;
    return true;
  }

 private:
  static constexpr Situation kEmpty = {};
  static constexpr size_t kFirstSlots = 1024;

  // The slot where it is, or where it belongs. The number of slots is a power of two.
  static Situation& find(std::vector<Situation>& slots, const Situation& s) {
    const size_t mask = slots.size() - 1;
    size_t i = s.a & mask;
    while (slots[i] != kEmpty && slots[i] != s) i = (i + 1) & mask;
    return slots[i];
  }

  bool grow(Budget& budget) {
    const size_t slots = slots_.empty() ? kFirstSlots : 2 * slots_.size();
    if (!budget.has_room(slots * sizeof(Situation))) return false;
    std::vector<Situation> bigger(slots);
    for (const Situation& s : slots_)
      if (s != kEmpty) find(bigger, s) = s;
    slots_ = std::move(bigger);
    return true;
  }

  std::vector<Situation> slots_;
  size_t size_ = 0;
};

}  // namespace assay::internal
