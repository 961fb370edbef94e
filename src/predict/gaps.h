// Unrecorded operations of transactions, represented by keys, so a search through conflicts takes
// them into account.
//
//   A read something unrecorded in the table t            A reads the key "reads of t", and what
//                                                         changes a row of t changes it
//   B changed something unrecorded in t                   B changes the key "changes of t", and
//                                                         what reads or changes a row of t reads
//                                                         or changes it
//
// None of these operations is certain: they make conflicts, and never lock. So a proof that nothing
// can go wrong with these additional conflicts is a proof. Cost: linear in the keys and
// transactions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/history.h"
#include "predict/txn_meta.h"

namespace assay::internal::predict {

class Gaps {
 public:
  Gaps() = default;
  // `metas`: indexed by transaction.
  Gaps(const History& history, const std::vector<TxnMeta>& metas);

  bool empty() const { return readers_.empty() && changers_.empty(); }
  bool is_whole(TxnId t) const { return empty() || (reads_[t].empty() && changes_[t].empty()); }
  // Keys numbered after those of the history, which represent what the transaction read or changed
  // without being recorded.
  const std::vector<KeyId>& reads(TxnId t) const { return reads_[t]; }
  const std::vector<KeyId>& changes(TxnId t) const { return changes_[t]; }
  // Returns those of these keys that a transaction also changes if it changes this key.
  const std::vector<KeyId>& changed_with(KeyId key) const { return of(key, changed_with_); }
  // Returns those of these keys that a transaction also reads if it reads this key, and changes if
  // it changes this key.
  const std::vector<KeyId>& met_with(KeyId key) const { return of(key, met_with_); }

 private:
  const std::vector<KeyId>& of(KeyId key, const std::vector<std::vector<KeyId>>& by_table) const {
    return by_table[table_of_.empty() ? 0 : table_of_[key]];
  }

  std::map<std::string, KeyId> readers_, changers_;  // by table: the keys that represent it
  std::vector<std::vector<KeyId>> reads_, changes_;  // indexed by transaction
  std::vector<uint32_t> table_of_;  // indexed by key; 0: a table without unrecorded operations
  std::vector<std::vector<KeyId>> changed_with_ = {{}}, met_with_ = {{}};  // indexed by table
};

}  // namespace assay::internal::predict
