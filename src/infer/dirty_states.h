// Every state that any transaction ever gave a key: committed or not, overwritten or not.
//
//   s1: { w(x,1) }!   s2: { ins(x,2)! }      the insert failed on what s1 had written before it
//                                            aborted
//
// At pl-1 an operation may have seen any of these states, but of a key that its own transaction had
// written only the transaction's last write. Cost: for an operation the writes of the version that
// it saw, or all writes of the key if it only saw that something else was there, up to the first
// write that explains the operation.
#pragma once

#include <span>
#include <vector>

#include "assay/history.h"
#include "infer/states_left.h"
#include "infer/touched_keys.h"

namespace assay::internal {

class DirtyStates {
 public:
  explicit DirtyStates(const History& history);

  // A key whose observed state is not explained by anything; kNone if everything is explained. Not
  // for lists.
  KeyId unexplained(OpId op) const;
  // Returns what the operation saw of each key.
  std::vector<Observation> seen_by(OpId op) const { return keys_.seen_by(op); }
  // The first few writes of others that explain the observation; empty if the initial state or a
  // write of the same transaction does.
  std::vector<OpId> explained_by(const Observation& seen) const;
  // Whether the range covers a key that holds a list.
  bool covers_list(OpId range) const;

 private:
  bool explained(const Observation& seen) const;
  OpId own_write_before(const Observation& seen) const;
  bool is_of(TxnId t, OpId op) const { return op >= h_.first_op(t) && op < h_.end_op(t); }

  const History& h_;
  TouchedKeys keys_;
  StatesLeft<OpId> writes_;  // ascending
};

}  // namespace assay::internal
