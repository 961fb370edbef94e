#include "certify/present_keys.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "certify/operations.h"
#include "history/key_order.h"

namespace assay::internal::certify {

NumberSet::NumberSet(size_t limit) {
  do {
    limit = limit / 64 + 1;
    levels_.emplace_back(limit);
  } while (limit > 1);
}

void NumberSet::insert(uint32_t number) {
  if (contains(number)) return;
  ++size_;
  for (std::vector<uint64_t>& words : levels_) {
    uint64_t& word = words[number / 64];
    const bool any = word != 0;
    word |= uint64_t{1} << number % 64;
    if (any) return;  // the levels above know already
    number /= 64;
  }
}

void NumberSet::erase(uint32_t number) {
  if (!contains(number)) return;
  --size_;
  for (std::vector<uint64_t>& words : levels_) {
    uint64_t& word = words[number / 64];
    word &= ~(uint64_t{1} << number % 64);
    if (word != 0) return;
    number /= 64;
  }
}

uint32_t NumberSet::next(uint32_t from) const {
  // Goes up to a word that has a later bit, and down along the first such bit.
  for (size_t level = 0; level < levels_.size(); ++level) {
    const size_t at = from / 64;
    if (at >= levels_[level].size()) return kNone;
    const uint64_t rest = levels_[level][at] >> from % 64;
    if (rest == 0) {
      from = static_cast<uint32_t>(at + 1);
      continue;
    }
    uint32_t found = from + static_cast<uint32_t>(std::countr_zero(rest));
    while (level-- > 0)
      found = 64 * found + static_cast<uint32_t>(std::countr_zero(levels_[level][found]));
    return found;
  }
  return kNone;
}

PresentKeys::PresentKeys(const History& history, bool everywhere)
    : sorted_(history.key_count()), rank_(history.key_count()), present_(history.key_count()) {
  std::iota(sorted_.begin(), sorted_.end(), KeyId{0});
  sort_keys(history, sorted_);
  for (uint32_t r = 0; r < sorted_.size(); ++r) rank_[sorted_[r]] = r;
  // The keys of the database are the keys that some operation touches; bounds of ranges need not
  // exist.
  for (TxnId t = 0; t < history.txn_count() && everywhere; ++t) {
    if (history.status(t) == TxnStatus::aborted) continue;
    for (const Access& a : accesses(history, t)) {
      if (!a.is_range()) set(a.key, true);
      if (a.is_range())
        for (const KeyId key : named_keys(history, a.op)) set(key, true);
    }
  }
  for (KeyId k = 0; k < history.key_count() && history.has_own_initial(); ++k)
    if (history.own_initial(k) != kNone) set(k, !history.initial(k).is_null());
}

void PresentKeys::set(KeyId key, bool present) {
  if (present) {
    present_.insert(rank_[key]);
  } else {
    present_.erase(rank_[key]);
  }
}

bool PresentKeys::in_range(KeyId key, KeyId lo, KeyId hi) const {
  return (lo == kNone || rank_[lo] <= rank_[key]) && (hi == kNone || rank_[key] <= rank_[hi]);
}

}  // namespace assay::internal::certify
