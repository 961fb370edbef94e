// A partial order of events, closed under transitivity while pairs are added: whether one event
// precedes another is one bit. For few events: adding a pair costs their number times an eighth of
// it in bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::internal::predict {

class PartialOrder {
 public:
  explicit PartialOrder(uint32_t count = 0)
      : count_(count), words_((count + 63) / 64), bits_(uint64_t{count} * words_, 0) {}

  bool precedes(uint32_t a, uint32_t b) const {
    return (bits_[uint64_t{a} * words_ + b / 64] >> (b % 64) & 1) != 0;
  }
  // Adds a before b. False, with nothing changed, if b precedes a or is a.
  bool add(uint32_t a, uint32_t b) {
    if (a == b || precedes(b, a)) return false;
    if (precedes(a, b)) return true;
    for (uint32_t before = 0; before < count_; ++before) {
      if (before != a && !precedes(before, a)) continue;
      uint64_t* const row = &bits_[uint64_t{before} * words_];
      const uint64_t* const behind = &bits_[uint64_t{b} * words_];
      for (uint32_t w = 0; w < words_; ++w) row[w] |= behind[w];
      row[b / 64] |= uint64_t{1} << (b % 64);
    }
    return true;
  }

 private:
  uint32_t count_ = 0, words_ = 0;
  std::vector<uint64_t> bits_;  // per event a row of bits: the events that it precedes
};

}  // namespace assay::internal::predict
