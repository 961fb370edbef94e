// The keys that a history is about: those that transactions which did not abort read, wrote, or met in a range, in key
// order, so that a range finds those that it covers; and which of them hold lists. Cost: the operations, and to sort.
#pragma once

#include <span>
#include <vector>

#include "history/accesses.h"

namespace assay {

class TouchedKeys {
 public:
  explicit TouchedKeys(const History& history);

  bool is_list(KeyId key) const { return list_[key]; }
  // Those within the bounds of a range, in key order.
  std::span<const KeyId> covered(OpId range) const;
  // What an operation observes of each key: one observation, or for a range one for each key that it covers or returned.
  std::vector<Observation> seen_by(OpId op) const;

 private:
  const History& h_;
  std::vector<bool> list_;  // per key
  std::vector<KeyId> sorted_;
};

}  // namespace assay
