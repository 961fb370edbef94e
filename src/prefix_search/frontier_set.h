// The prefixes that cannot be completed: exact vectors of positions, found by hash.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"

namespace assay::internal {

class FrontierSet {
 public:
  explicit FrontierSet(uint32_t width) : width_(width), slots_(1024, 0) {}

  // Returns false if it was there already.
  bool insert(std::span<const uint32_t> positions) {
    if (2 * (size() + 1) > slots_.size()) grow();
    const size_t slot = find(positions);
    if (slots_[slot] != 0) return false;
    pool_.insert(pool_.end(), positions.begin(), positions.end());
    slots_[slot] = size_ += 1;
    return true;
  }
  bool contains(std::span<const uint32_t> positions) const { return slots_[find(positions)] != 0; }
  size_t size() const { return size_; }

 private:
  // Returns where it is, or would be.
  size_t find(std::span<const uint32_t> positions) const {
    size_t slot = hash(positions) & (slots_.size() - 1);
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
      const auto there = at(slots_[slot] - 1);
      if (std::equal(there.begin(), there.end(), positions.begin())) break;
    }
    return slot;
  }
  static uint64_t hash(std::span<const uint32_t> positions) {
    return hash_bytes({reinterpret_cast<const char*>(positions.data()), positions.size_bytes()});
  }
  std::span<const uint32_t> at(size_t index) const {
    return {pool_.data() + index * width_, width_};
  }
  void grow() {
    std::vector<uint64_t> larger(2 * slots_.size(), 0);
    for (uint64_t entry : slots_) {
      if (entry == 0) continue;
      size_t slot = hash(at(entry - 1)) & (larger.size() - 1);
      while (larger[slot] != 0) slot = (slot + 1) & (larger.size() - 1);
      larger[slot] = entry;
    }
    slots_ = std::move(larger);
  }

  size_t width_;
  size_t size_ = 0;
  std::vector<uint64_t> slots_;  // index + 1; 0 = empty
  std::vector<uint32_t> pool_;
};

}  // namespace assay::internal
