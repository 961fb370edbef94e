// What the lines {"key":…,"order":[…]} of a history name, and whether they can all be right.
//
//   order x: 1 2      s1: { w(x,1) }?   s2: { w(x,2) }     s1 took effect, and before s2
//   order x: 1 9                                           a contradiction: no write of 9
//
// An entry with only a value names a transaction if exactly one that may have taken effect writes
// the value to the key, finally or on the way. It means nothing if several do, if it is the initial
// value in first place, or if it is null and a transaction deletes the key. An entry that states
// its transaction names that one, if it may have taken effect and installs the value there.
// Anything else is a contradiction; so are lines of a key that put two versions in opposite orders,
// perhaps through other versions, and then no line of the key counts. A transaction that was
// acknowledged before the time up to which the history calls its orders complete must be in them
// with all versions that it left behind.
//
// A version is one operation of one transaction. Lines can be opposite only if a version is named
// twice; then all lines together are a graph of operations, from which operations without
// predecessors are removed until none is left, or only operations with predecessors. Cost: linear
// in the operations and the entries.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/history.h"
#include "certify/writes.h"

namespace assay::internal::certify {

class StatedOrders {
 public:
  explicit StatedOrders(const Writes& writes);

  // Returns, for each entry of a line, the transaction that it names, or kNone.
  std::span<const TxnId> named(size_t line) const {
    return std::span(named_).subspan(begin_[line], begin_[line + 1] - begin_[line]);
  }
  size_t lines() const { return begin_.size() - 1; }
  // The contradiction as a sentence; empty if there is none.
  const std::string& contradiction() const { return contradiction_; }

 private:
  std::vector<size_t> begin_{0};  // indexed by line, and the end
  std::vector<TxnId> named_;      // of all lines together
  std::string contradiction_;
};

}  // namespace assay::internal::certify
