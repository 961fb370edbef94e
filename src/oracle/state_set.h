// A set of 128-bit situations: open addressing, grows by doubling, no removal. The replay's memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace assay::internal::oracle {

class StateSet {
 public:
  using Item = std::array<uint64_t, 2>;

  // Returns false if it was there already.
  bool insert(const Item& item) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = find(item);
    if (slot.used) return false;
    slot = {item, true};
    ++size_;
    return true;
  }
  uint64_t size() const { return size_; }

 private:
  struct Slot {
    Item item{};
    bool used = false;
  };

  Slot& find(const Item& item) {
    uint64_t hash = (item[0] ^ (item[1] * 0x9E3779B97F4A7C15u)) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at].used && slots_[at].item != item) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.used) find(slot.item) = slot;
    }
  }

  std::vector<Slot> slots_;
  uint64_t size_ = 0;
};

}  // namespace assay::internal::oracle
