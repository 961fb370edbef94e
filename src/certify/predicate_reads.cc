#include "certify/predicate_reads.h"

#include <algorithm>

#include "certify/operations.h"

namespace assay::internal::certify {

void PredicateReads::index() {
  const History& h = lookups_.history();
  const StatedOrders& stated = lookups_.stated();
  orders_.resize(h.key_count());
  for (size_t line = 0; line < stated.lines(); ++line) {
    const KnownOrder& known = h.known_orders()[line];
    std::vector<TxnId> order;
    for (size_t i = 0; i < known.versions.size(); ++i) {
      const TxnId t = stated.named(line)[i];
      if (t != kNone && left_by(h, t, known.key).version == known.versions[i]) order.push_back(t);
    }
    std::vector<TxnId> all = order;
    std::sort(all.begin(), all.end());
    if (std::ranges::equal(all, lookups_.writes().of_key(known.key, Which::staying), {}, {},
                           &Write::txn))
      orders_[known.key] = std::move(order);
  }
}

bool PredicateReads::depends(OpId range, KeyId key, TxnId seen, TxnId from) {
  if (orders_.empty()) index();
  const History& h = lookups_.history();
  const State initial = initial_state(h, key);
  std::vector<State> states;
  if (const std::vector<TxnId>& order = orders_[key]; !order.empty()) {
    for (const TxnId t : order) {
      states.push_back(left_by(h, t, key));
      if (t == seen) break;
    }
    const size_t change = conditions_.last_change(range, initial, states);
    return change < states.size() && order[change] == from;
  }
  if (from != seen) return false;
  const State held = left_by(h, seen, key);
  if (!conditions_.differ(range, held, initial)) return false;
  return std::ranges::all_of(
      lookups_.writes().of_key(key, Which::staying), [&](const Write& write) {
        return write.txn == seen || conditions_.differ(range, held, lookups_.writes().left(write));
      });
}

}  // namespace assay::internal::certify
