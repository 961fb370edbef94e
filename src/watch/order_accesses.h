// The accesses of a settled order: by transaction and by key.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/history.h"
#include "watch/window.h"

namespace assay::internal::watch {

// What a transaction did with a key.
struct OrderAccess {
  KeyId key;
  uint32_t place;       // place in the order
  bool looked = false;  // whether it looked at what others left
  bool wrote = false;

  bool is_blind() const { return wrote && !looked; }
};

class OrderAccesses {
 public:
  // Both arguments must outlive this object. Cost: the operations of the order, and the square of
  // those of one transaction.
  OrderAccesses(const Window& window, std::span<const TxnId> order);

  const Window& window() const { return window_; }
  std::span<const TxnId> order() const { return order_; }
  std::span<const OrderAccess> of_place(uint32_t place) const {
    return {by_place_.data() + places_[place], places_[place + 1] - places_[place]};
  }
  // The accesses of a key, in order.
  std::span<const OrderAccess> of_key(KeyId key) const {
    return {by_key_.data() + keys_[key], keys_[key + 1] - keys_[key]};
  }

 private:
  void add(uint32_t place);
  void sort_by_key();

  const Window& window_;
  std::span<const TxnId> order_;
  std::vector<OrderAccess> by_place_, by_key_;
  std::vector<size_t> places_, keys_;  // where each transaction and each key begins, and an end
};

}  // namespace assay::internal::watch
