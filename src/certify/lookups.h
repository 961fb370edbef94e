// What certificates look up in a history. Each part is computed once, when a certificate first
// needs it.
#pragma once

#include "assay/history.h"
#include "certify/once.h"
#include "certify/stated_orders.h"
#include "certify/writes.h"

namespace assay::internal::certify {

class Lookups {
 public:
  explicit Lookups(const History& history) : writes_(history) {}

  const History& history() const { return writes_.history(); }
  const Writes& writes() const { return writes_; }
  const StatedOrders& stated() const {
    return stated_.get([&] { return StatedOrders(writes_); });
  }

 private:
  const Writes writes_;
  Once<StatedOrders> stated_;
};

}  // namespace assay::internal::certify
