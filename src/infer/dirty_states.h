// Every state that any transaction ever gave a key: committed or not, overwritten or not.
//
//   s1: { w(x,1) }!   s2: { ins(x,2)! }      the insert failed on what s1 had written before it aborted
//
// At pl-1 an operation may have seen any of them, but for those of its own transaction: of a key that it wrote it
// sees what it wrote last. Cost: the writes of the key, until one is met that explains the operation.
#pragma once

#include <vector>

#include "assay/history.h"
#include "infer/touched_keys.h"

namespace assay::internal {

class DirtyStates {
 public:
  explicit DirtyStates(const History& history);

  // A key of which nothing explains what the operation saw; kNone if everything is explained. Not for lists.
  KeyId unexplained(OpId op) const;
  // The range covers a key that holds a list.
  bool covers_list(OpId range) const;

 private:
  bool explained(const Observation& seen) const;

  const History& h_;
  TouchedKeys keys_;
  std::vector<std::vector<OpId>> writes_;  // per key
};

}  // namespace assay::internal
