#include "history/key_order.h"

#include <algorithm>

#include "history/accesses.h"

namespace assay::internal {
namespace {

auto in_order(const History& h) {
  return [&h](KeyId a, KeyId b) { return key_less(h.key(a), h.key(b)); };
}

}  // namespace

void sort_keys(const History& h, std::vector<KeyId>& keys) {
  std::sort(keys.begin(), keys.end(), in_order(h));
}

KeyOrder::KeyOrder(const History& h) : h_(h) {
  std::vector<bool> touched(h.key_count());
  for (OpId i = 0; i < h.op_count(); ++i) {
    if (is_range(h.op(i)))
      each_named_key(h, i, [&](KeyId key) { touched[key] = true; });
    else
      touched[h.op(i).key] = true;
  }
  for (KeyId k = 0; k < h.key_count(); ++k)
    if (touched[k]) sorted_.push_back(k);
  sort_keys(h, sorted_);
}

std::span<const KeyId> KeyOrder::between(KeyId lo, KeyId hi) const {
  auto from = sorted_.begin(), to = sorted_.end();
  if (lo != kNone) from = std::lower_bound(from, to, lo, in_order(h_));
  if (hi != kNone) to = std::upper_bound(from, to, hi, in_order(h_));
  return {from, to};
}

}  // namespace assay::internal
