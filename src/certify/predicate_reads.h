// On whom a range depends for a key that it did not return, at Adya's levels: on the last transaction, up to the version that it saw,
// that changed whether the range selects the key.
//
//   order x: 10 20 3      A: w(x,10)   B: w(x,20)   C: w(x,3)   D: p(value < 5, [], passed [x=20])
//   x never was below 5 when D looked: D depends on nobody. A query for value > 15 that passed over x = 3 depends on C.
//
// Which one that was is certain where one line of the history orders all who may have written the key, or where every other version,
// the initial one too, matches otherwise. Cost: an operation walks the versions of its key once.
#pragma once

#include <optional>
#include <vector>

#include "assay/history.h"
#include "certify/conditions.h"
#include "certify/stated_orders.h"

namespace assay::internal::certify {

class PredicateReads {
 public:
  PredicateReads(const History& history, SharedStatedOrders& stated)
      : history_(history), conditions_(history), stated_(stated) {}

  // Whether `from` certainly made that change, where `range` saw what `seen` left of the key.
  bool depends(OpId range, KeyId key, TxnId seen, TxnId from);

 private:
  struct Key {
    std::vector<TxnId> writers;  // all that may have taken effect
    std::vector<TxnId> order;    // the same as one line orders them; empty if none does
  };
  void index();

  const History& history_;
  const Conditions conditions_;
  SharedStatedOrders& stated_;
  std::vector<Key> keys_;  // empty until somebody asks
};

}  // namespace assay::internal::certify
