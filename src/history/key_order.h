// The keys that some operation touches, in the order of range queries.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "history/accesses.h"

namespace assay::internal {

class KeyOrder {
 public:
  explicit KeyOrder(const History& h) : h_(h) {
    std::vector<bool> touched(h.key_count());
    for (OpId i = 0; i < h.op_count(); ++i) {
      const Operation op = h.op(i);
      if (op.kind != OpKind::range) {
        touched[op.key] = true;
      } else {
        each_named_key(h, i, [&](KeyId key) { touched[key] = true; });
      }
    }
    for (KeyId k = 0; k < h.key_count(); ++k)
      if (touched[k]) sorted_.push_back(k);
    std::sort(sorted_.begin(), sorted_.end(), Less{h});
  }

  // Both bounds inclusive; kNone: open.
  std::span<const KeyId> between(KeyId lo, KeyId hi) const {
    auto from = sorted_.begin(), to = sorted_.end();
    if (lo != kNone) from = std::lower_bound(from, to, lo, Less{h_});
    if (hi != kNone) to = std::upper_bound(from, to, hi, Less{h_});
    return {from, to};
  }

 private:
  struct Less {
    const History& h;
    bool operator()(KeyId a, KeyId b) const { return key_less(h.key(a), h.key(b)); }
  };

  const History& h_;
  std::vector<KeyId> sorted_;
};

}  // namespace assay::internal
