// Possible sources: the transactions whose state of a key an operation may have seen.
//
//   A { w(x,1) }   B { w(x,1) }   C { w(x,2) }   D { cas(x,2,3) failed }
//   The compare-and-set of D saw what A or what B left of x, not what C left; if x is 2 initially,
//   not the initial state.
//
// Every operation sees, of each key that it is about, what some transaction left there, its own
// last write, or the initial state. At read atomic and above, all that a transaction sees of a key
// before it writes the key is the same. A refutation must rule out every possible source; commit
// orders may name the source they mean.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/conditions.h"
#include "certify/writes.h"

namespace assay::internal::certify {

// Whether a transaction sees one state of a key, as at read atomic and above; Adya's levels judge
// each read by itself.
inline bool one_state(const LevelInfo& level) {
  return level.repeatable && level.events != EventModel::adya;
}

class Sources {
 public:
  explicit Sources(const Writes& writes);

  // Every transaction whose state of `key` explains what `op` saw (kNone: the initial state); with
  // `one_state` also what the other operations of `op`'s transaction saw of the key before it wrote
  // the key. Empty if none does. Fails for operations that see no state of the key, or their
  // transaction's own.
  Result<std::vector<TxnId>> of(OpId op, KeyId key, bool one_state) const;

  // Whether `source` is one of them.
  bool possible(OpId op, KeyId key, TxnId source) const;
  // The same if `op` is known to have seen a state of the key, its transaction not to have written
  // the key before, and `source` to be another one.
  bool possible_external(OpId op, KeyId key, TxnId source) const;
  // Whether some write of another transaction, whatever its outcome, or the initial state explains
  // the observation of `key` by `op`; or, if its transaction wrote the key before `op`, whether the
  // last such write does. For keys that `op` sees and that do not hold a list.
  bool explained_by_any(OpId op, KeyId key) const;
  // Whether `op` saw a state of another transaction that no transaction which may count left.
  bool has_no_source(OpId op, KeyId key) const;
  // Whether the result of `op` is right if it saw the write `own` of its transaction.
  bool explained_by(OpId own, OpId op, KeyId key) const;
  // The keys of which a range saw a state: the keys that it names, and if it is complete the keys
  // within its bounds that operations which may count touch and that ever held a value which may
  // satisfy its condition.
  std::vector<KeyId> keys_of_range(OpId op) const;
  // The keys of which an aggregate may have added something.
  std::vector<KeyId> keys_of_aggregate(OpId op) const;
  // Whether the key is one of those of a range, or the key of another operation, of which the
  // operation saw a state, even if only its transaction's own.
  bool sees(OpId op, KeyId key) const;
  // Whether the key ever held something that may satisfy the condition.
  bool may_satisfy(PredicateId predicate, KeyId key) const;
  // The other transactions that may have left the state that `op` saw, if that certainly is the
  // final state of one: empty if it is explained by the initial state, by a write of the same
  // transaction, or by a write that was overwritten or whose transaction did not take effect.
  template <class TookEffect>
  std::vector<TxnId> certain_writers(OpId op, KeyId key, TookEffect took_effect) const {
    std::vector<TxnId> left;
    if (holds_list_[key] || own_write_before(history_, op, key) != kNone ||
        explains(initial_state(history_, key), op, key))
      return left;
    for (const Write& write : candidates(op, key, Which::all)) {
      if (write.txn == history_.txn_of(op) || !explains(writes_.left(write), op, key)) continue;
      const Write* const stays = writes_.left_by(write.txn, key);
      if (!took_effect(write.txn) || stays == nullptr || stays->op != write.op) return {};
      left.push_back(write.txn);
    }
    return left;
  }

 private:
  bool may_add_to(OpId aggregate, KeyId key) const;
  bool explains(const State& state, OpId i, KeyId key) const;
  bool range_explained(const State& state, OpId range, KeyId key) const;
  std::span<const Write> candidates(OpId i, KeyId key, Which which) const;

  const Writes& writes_;
  const History& history_;
  const Conditions conditions_;
  std::vector<bool> holds_list_, touched_;
  std::vector<KeyId> sorted_;  // the touched keys, in key order
};

}  // namespace assay::internal::certify
