#include "certify/statement_order_verifier.h"

#include <vector>

#include "certify/operations.h"
#include "certify/refusal.h"
#include "certify/replay.h"
#include "history/statements.h"

namespace assay::internal::certify {
namespace {

class StatementReplay {
 public:
  StatementReplay(const History& history, const Order& order)
      : history_(history),
        order_(order),
        replay_(history),
        holder_(history.key_count(), kNone),
        moments_(history.txn_count(), 0) {
    for (TxnId t = 0; t < history.txn_count(); ++t) next_.push_back(history.first_op(t));
    for (const uint32_t event : order.events)
      if (reads(event)) ++moments_[txn(event)];
  }

  Status run() {
    for (const uint32_t event : order_.events) {
      if (reads(event))
        if (Status s = read(txn(event)); !s.ok()) return s;
      if (writes(event))
        if (Status s = commit(txn(event)); !s.ok()) return s;
    }
    return Ok{};
  }

 private:
  TxnId txn(uint32_t event) const { return order_.split ? event / 2 : event; }
  bool reads(uint32_t event) const { return !order_.split || event % 2 == 0; }
  bool writes(uint32_t event) const { return !order_.split || event % 2 == 1; }

  Status read(TxnId t) {
    const bool is_last = --moments_[t] == 0;
    do {
      if (next_[t] == history_.end_op(t)) break;
      const OpId first = next_[t];
      next_[t] = end_of_statement(history_, t, first);
      if (Status s = lock(t, Accesses(history_, first, next_[t])); !s.ok()) return s;
      if (Status s = replay_.read(t, first, next_[t]); !s.ok()) return s;
    } while (is_last);
    return Ok{};
  }

  Status lock(TxnId t, const Accesses& statement) {
    for (const Access& a : statement) {
      if (!a.writes()) continue;
      if (holder_[a.key] != kNone && holder_[a.key] != t)
        return refuse("transactions {} and {} overlap in the order and both write {}",
                      history_.name(holder_[a.key]), history_.name(t),
                      history_.key(a.key).to_string());
      holder_[a.key] = t;
    }
    return Ok{};
  }

  Status commit(TxnId t) {
    for (const Access& a : accesses(history_, t))
      if (a.writes()) holder_[a.key] = kNone;
    return replay_.install(t);
  }

  const History& history_;
  const Order& order_;
  Replay replay_;
  std::vector<TxnId> holder_;      // indexed by key: the transaction that has written it and not
                                   // committed
  std::vector<uint32_t> moments_;  // indexed by transaction: how many r are still to come
  std::vector<OpId> next_;         // indexed by transaction: its next statement
};

}  // namespace

Status statement_order_serves(const History& history, const Order& order) {
  return StatementReplay(history, order).run();
}

}  // namespace assay::internal::certify
