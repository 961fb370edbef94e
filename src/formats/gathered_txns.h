// For text formats whose lines of one transaction need not be neighbours: operations are gathered,
// then handed out transaction by transaction, in the order in which transactions first appeared.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "assay/history.h"

namespace assay::internal::formats {

template <class Held>
class GatheredTxns {
 public:
  struct Txn {
    int64_t session = 0;
    int64_t id = 0;
    uint64_t line = 0;  // line of the first operation
    uint32_t ops = 0;
  };

  // The index of transaction `id` of `session`, which is added if it is new.
  uint32_t txn(int64_t session, int64_t id, uint64_t line) {
    if (last_ < txns_.size() && txns_[last_].session == session && txns_[last_].id == id)
      return last_;
    auto [it, is_new] = index_[session].try_emplace(id, static_cast<uint32_t>(txns_.size()));
    if (is_new) txns_.push_back({session, id, line, 0});
    return last_ = it->second;
  }
  // Adds a separate transaction that no later line can join by its id.
  uint32_t separate_txn(int64_t session, int64_t id, uint64_t line) {
    txns_.push_back({session, id, line, 0});
    return last_ = static_cast<uint32_t>(txns_.size() - 1);
  }
  void add(uint32_t txn, Held op) {
    ++txns_[txn].ops;
    ops_.push_back({txn, std::move(op)});
  }
  bool full() const { return ops_.size() >= HistoryBuilder::kMaxOps; }
  // The transaction of the last line; kNone before the first.
  uint32_t last() const { return last_; }
  Txn& at(uint32_t txn) { return txns_[txn]; }
  const std::vector<Txn>& txns() const { return txns_; }

  // Calls `visit(index, txn, operations)`, with operations as pointers in the order of their lines,
  // until it returns an error.
  template <class Visit>
  Status for_each(Visit visit) const {
    std::vector<size_t> next(txns_.size() + 1, 0);
    for (size_t t = 0; t < txns_.size(); ++t) next[t + 1] = next[t] + txns_[t].ops;
    std::vector<const Held*> order(ops_.size());
    for (const Entry& e : ops_) order[next[e.txn]++] = &e.op;
    for (uint32_t t = 0; t < txns_.size(); ++t) {
      // At this point next[t] is where transaction t ends.
      std::span<const Held* const> ops(order.data() + next[t] - txns_[t].ops, txns_[t].ops);
      if (auto s = visit(t, txns_[t], ops); !s.ok()) return s;
    }
    return Ok{};
  }

 private:
  struct Entry {
    uint32_t txn;
    Held op;
  };
  std::vector<Txn> txns_;
  std::vector<Entry> ops_;
  std::unordered_map<int64_t, std::unordered_map<int64_t, uint32_t>> index_;
  uint32_t last_ = kNone;
};

}  // namespace assay::internal::formats
