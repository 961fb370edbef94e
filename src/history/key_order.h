// The keys of a history in the order of range queries.
#pragma once

#include <span>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

void sort_keys(const History& h, std::vector<KeyId>& keys);

// The keys that some operation touches, sorted.
class KeyOrder {
 public:
  explicit KeyOrder(const History& h);

  // The keys between the bounds, both inclusive; kNone: open.
  std::span<const KeyId> between(KeyId lo, KeyId hi) const;

 private:
  const History& h_;
  std::vector<KeyId> sorted_;
};

}  // namespace assay::internal
