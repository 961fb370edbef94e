// The keys that hold a value, in the order of range queries.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "assay/history.h"

namespace assay::internal::certify {

class PresentKeys {
 public:
  // `everywhere`: keys hold a value before anything is written (the initial value is not null).
  PresentKeys(const History& history, bool everywhere);

  void set(KeyId key, bool present);
  // Both bounds inclusive, kNone = open.
  bool in_range(KeyId key, KeyId lo, KeyId hi) const;
  // Calls `visit` with the present keys in the range, in order, until it returns false.
  template <class Visit>
  void each(KeyId lo, KeyId hi, Visit visit) const {
    auto it = lo == kNone ? present_.begin() : present_.lower_bound(rank_[lo]);
    for (; it != present_.end() && (hi == kNone || *it <= rank_[hi]); ++it)
      if (!visit(sorted_[*it])) return;
  }

 private:
  std::vector<KeyId> sorted_;
  std::vector<uint32_t> rank_;  // inverse of sorted_
  std::set<uint32_t> present_;  // ranks
};

// True if some transaction that may count asks for a range.
bool has_ranges(const History& history);

}  // namespace assay::internal::certify
