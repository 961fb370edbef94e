// Every state that any transaction ever gave a key: committed or not, overwritten or not.
//
//   s1: { w(x,1) }!   s2: { ins(x,2)! }      the insert failed on what s1 had written before it
//                                            aborted
//
// At pl-1 an operation may have seen any of these states, except the other ones of its own
// transaction: of a key that it wrote it sees its last write. Cost: an operation looks at the
// writes of the version it saw, or at all writes of the key if it only saw that something else was
// there, and stops at the first that explains it.
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

  // A key whose observed state nothing explains; kNone if everything is explained. Not for lists.
  KeyId unexplained(OpId op) const;
  // What the operation saw of each key.
  std::vector<Observation> seen_by(OpId op) const { return keys_.seen_by(op); }
  // The writes of others that explain it, the first few; none if the initial state or an own write
  // does.
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
