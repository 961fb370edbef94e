// The keys that a history is about, in key order, and which of them hold lists.
//
//   s1: { w(b,1) }   s2: { w(d,1) }!   s3: { range(a..e,[b=1]) r(c,null) }
//   The range covers b, which it lists, and c, which it found absent; not d, which only an aborted
//   transaction touched.
//
// A range observes every key within its bounds that could have been there: the keys that
// transactions which did not abort read, wrote, or met in a range, and the keys that have a
// separate initial value. Two binary searches find them.
//
// Cost: the operations, and sorting the keys.
#pragma once

#include <span>
#include <vector>

#include "history/accesses.h"

namespace assay::internal {

// Whether the key lies within the bounds of a range.
bool is_within(const History& history, OpId range, KeyId key);

class TouchedKeys {
 public:
  explicit TouchedKeys(const History& history);

  bool is_list(KeyId key) const { return list_[key]; }
  // The keys of the history within the bounds of a range, in key order.
  std::span<const KeyId> covered(OpId range) const;
  // Returns those of these keys that ever held a value which may satisfy the condition.
  std::vector<KeyId> that_may_satisfy(OpId range, PredicateId predicate) const;
  // Returns what an operation observes of each key: one observation, or for a range one for each
  // key that it covers or returned.
  std::vector<Observation> seen_by(OpId op) const;

 private:
  const History& h_;
  std::vector<bool> list_, touched_;  // indexed by key: it holds a list; the history is about it
  std::vector<KeyId> sorted_;
};

}  // namespace assay::internal
