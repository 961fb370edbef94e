// An order that explains aggregates, where one is known that explains everything else. See aggregate_orders.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "assay/check.h"
#include "history/aggregate.h"
#include "infer/aggregates.h"

namespace assay::internal {

class AggregateOrders {
 public:
  // How the copies are decided is said by `options`, within a share of what is left of `budget`.
  AggregateOrders(const History& history, const CheckOptions& options, Budget& budget)
      : history_(history), options_(options), budget_(budget) {}

  // `base`: an order that satisfies the level but for aggregates, if one is known.
  std::optional<Order> find(LevelId level, const Order* base);

 private:
  uint32_t most_tried() const;
  bool take_rows(OpId op, const Order& order);
  bool take_others(const std::vector<TxnId>& blamed, const Order& order);
  std::optional<Order> order_given(LevelId level, std::vector<TxnId>& blamed);

  const History& history_;
  const CheckOptions& options_;
  Budget& budget_;
  // For one level: rows in place of some aggregates, how many version sets of each were tried before, and how many copies are
  // still to be decided at most.
  std::map<OpId, VersionSet> rows_;
  std::map<OpId, size_t> tried_;
  uint32_t left_ = 0;
};

}  // namespace assay::internal
