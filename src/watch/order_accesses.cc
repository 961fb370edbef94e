#include "watch/order_accesses.h"

#include <algorithm>

#include "history/accesses.h"

namespace assay::internal::watch {

OrderAccesses::OrderAccesses(const Window& window, std::span<const TxnId> order)
    : window_(window), order_(order) {
  for (uint32_t place = 0; place < order.size(); ++place) add(place);
  places_.push_back(by_place_.size());
  sort_by_key();
}

void OrderAccesses::add(uint32_t place) {
  const History& h = window_.history;
  const auto first = static_cast<std::ptrdiff_t>(by_place_.size());
  places_.push_back(by_place_.size());
  const TxnId t = order_[place];
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    const KeyId key = h.op(i).key;
    const auto at = std::find_if(by_place_.begin() + first, by_place_.end(),
                                 [&](const OrderAccess& a) { return a.key == key; });
    OrderAccess& a = at == by_place_.end() ? by_place_.emplace_back(OrderAccess{key, place}) : *at;
    // A read of the transaction's own write tells nothing about others.
    if (observation_of(h, i).accepts != Accepts::any && !a.wrote) a.looked = true;
    if (installs_version(h.op(i))) a.wrote = true;
  }
}

void OrderAccesses::sort_by_key() {
  keys_.assign(window_.history.key_count() + 1, 0);
  for (const OrderAccess& a : by_place_) ++keys_[a.key + 1];
  for (size_t key = 1; key < keys_.size(); ++key) keys_[key] += keys_[key - 1];
  std::vector<size_t> next = keys_;
  by_key_.resize(by_place_.size());
  for (const OrderAccess& a : by_place_) by_key_[next[a.key]++] = a;
}

}  // namespace assay::internal::watch
