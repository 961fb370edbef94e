// The keys that hold a value, in the order of range queries.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/history.h"

namespace assay::internal::certify {

// A set of numbers below a limit, which finds the next one from anywhere: a bit for each number, a
// bit for each word of these that is not 0, and so on.
class NumberSet {
 public:
  explicit NumberSet(size_t limit);
  void insert(uint32_t number);
  void erase(uint32_t number);
  // The least number that is `from` or more; kNone if there is none.
  uint32_t next(uint32_t from) const;
  bool contains(uint32_t number) const { return (levels_[0][number / 64] >> number % 64 & 1) != 0; }
  size_t size() const { return size_; }

 private:
  std::vector<std::vector<uint64_t>> levels_;  // the last level is one word
  size_t size_ = 0;
};

class PresentKeys {
 public:
  // `everywhere`: all keys hold a value before any write, the same except for keys with a separate
  // initial value.
  PresentKeys(const History& history, bool everywhere);

  void set(KeyId key, bool present);
  size_t count() const { return present_.size(); }
  // Both bounds are inclusive, kNone = open.
  bool in_range(KeyId key, KeyId lo, KeyId hi) const;
  // Calls `visit` with the present keys in the range, in order, until it returns false.
  template <class Visit>
  void each(KeyId lo, KeyId hi, Visit visit) const {
    const uint32_t last = hi == kNone ? kNone - 1 : rank_[hi];
    for (uint32_t rank = present_.next(lo == kNone ? 0 : rank_[lo]); rank <= last;
         rank = present_.next(rank + 1))
      if (!visit(sorted_[rank])) return;
  }

 private:
  std::vector<KeyId> sorted_;
  std::vector<uint32_t> rank_;  // the inverse of sorted_
  NumberSet present_;           // of ranks
};

}  // namespace assay::internal::certify
