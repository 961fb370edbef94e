// Puts numbers of things, such as versions or keys, into ascending order, without repetitions.
//
// If they are many, they are ticked off and the ticks are read: this takes time linear in the
// numbers and one bit for each thing that exists. If they are few, they are sorted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace assay::internal {

class Ascending {
 public:
  // The numbers must be less than `all`.
  explicit Ascending(size_t all) : ticked_((all + 63) / 64) {}

  void sort(std::vector<uint32_t>& ids) {
    if (ids.size() < ticked_.size() / 4) {
      std::sort(ids.begin(), ids.end());
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
      return;
    }
    for (const uint32_t id : ids) ticked_[id / 64] |= uint64_t{1} << id % 64;
    ids.clear();
    for (size_t word = 0; word < ticked_.size(); ++word)
      for (uint64_t left = std::exchange(ticked_[word], 0); left != 0; left &= left - 1)
        ids.push_back(
            static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(left))));
  }

 private:
  std::vector<uint64_t> ticked_;  // one bit per thing; none is set between two calls
};

}  // namespace assay::internal
