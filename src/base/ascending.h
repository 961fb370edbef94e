// Numbers of things, as versions or keys, put in ascending order and of equal ones one.
//
// Where they are many of all there are, that is ticking them off and reading the ticks: the time of
// the numbers and of a bit for each thing there is. Where they are few, it is sorting them.
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
  // Of numbers below `all`.
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
  std::vector<uint64_t> ticked_;  // a bit for each thing; none is set between two calls
};

}  // namespace assay::internal
