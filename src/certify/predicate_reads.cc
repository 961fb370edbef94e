#include "certify/predicate_reads.h"

#include <algorithm>

#include "certify/operations.h"

namespace assay::internal::certify {

void PredicateReads::index() {
  keys_.resize(history_.key_count());
  for (TxnId t = 0; t < history_.txn_count(); ++t) {
    if (history_.status(t) == TxnStatus::aborted) continue;
    for (const Access& a : accesses(history_, t)) {
      if (!a.writes()) continue;
      std::vector<TxnId>& writers = keys_[a.key].writers;
      if (writers.empty() || writers.back() != t) writers.push_back(t);
    }
  }
  const StatedOrders& stated = stated_.get();
  for (size_t line = 0; line < stated.lines(); ++line) {
    const KnownOrder& known = history_.known_orders()[line];
    Key& key = keys_[known.key];
    std::vector<TxnId> order;
    for (size_t i = 0; i < known.versions.size(); ++i) {
      const TxnId t = stated.named(line)[i];
      if (t != kNone && left_by(history_, t, known.key).version == known.versions[i])
        order.push_back(t);
    }
    std::vector<TxnId> all = order;
    std::sort(all.begin(), all.end());
    if (all == key.writers) key.order = std::move(order);
  }
}

bool PredicateReads::depends(OpId range, KeyId key, TxnId seen, TxnId from) {
  if (keys_.empty()) index();
  const Key& known = keys_[key];
  std::vector<State> states;
  if (!known.order.empty()) {
    for (const TxnId t : known.order) {
      states.push_back(left_by(history_, t, key));
      if (t == seen) break;
    }
    const size_t change = conditions_.last_change(range, initial_state(history_, key), states);
    return change < states.size() && known.order[change] == from;
  }
  if (from != seen) return false;
  const State held = left_by(history_, seen, key);
  if (!conditions_.changes(range, held, initial_state(history_, key))) return false;
  return std::all_of(known.writers.begin(), known.writers.end(), [&](TxnId t) {
    return t == seen || conditions_.changes(range, held, left_by(history_, t, key));
  });
}

}  // namespace assay::internal::certify
