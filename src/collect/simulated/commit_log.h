// The simulated database's own log: what each transaction that took effect installed, in the order
// of commits. Written into the history as stated version orders.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "collect/sink.h"
#include "history/value.h"

namespace assay::internal::collect {

class CommitLog {
 public:
  // Adds what the transaction left of each key, and every element that it appended; only for `key`
  // if one is given. Called in the order of commits.
  void add(const TxnRecord& record, const Value* key = nullptr);
  // Writes the orders, and that they are complete at `now`. The log is empty afterwards.
  Status write(Sink& sink, int64_t now);

 private:
  std::vector<OrderRecord> orders_;
  std::unordered_map<Value, size_t, KeyHash> places_;  // indices into orders_
  std::vector<std::string> txns_;                      // in the order of commits
};

}  // namespace assay::internal::collect
