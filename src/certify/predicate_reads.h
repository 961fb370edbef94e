// The transaction on which a range depends for a key that it did not return, at Adya's levels: the
// last one, up to the version that it saw, that changed whether the range selects the key.
//
//   order x: 10 20 3      A: w(x,10)   B: w(x,20)   C: w(x,3)   D: p(value < 5, [], passed [x=20])
//   x was never less than 5 before D looked: D depends on no transaction. A query for value > 15
//   that skipped x = 3 depends on C.
//
// It is certain which one that was if one line of the history orders all possible writers of the
// key, or if every other version, including the initial one, matches differently. Cost: an
// operation walks the versions of its key once.
#pragma once

#include <optional>
#include <vector>

#include "assay/history.h"
#include "certify/conditions.h"
#include "certify/lookups.h"

namespace assay::internal::certify {

class PredicateReads {
 public:
  explicit PredicateReads(const Lookups& lookups)
      : lookups_(lookups), conditions_(lookups.history()) {}

  // Whether `from` certainly made that change, if `range` saw what `seen` left of the key.
  bool depends(OpId range, KeyId key, TxnId seen, TxnId from);

 private:
  void index();

  const Lookups& lookups_;
  const Conditions conditions_;
  // Per key: the transactions that may have taken effect and write it, in the order that one stated
  // line gives; empty if no line has them all. Filled when first asked for.
  std::vector<std::vector<TxnId>> orders_;
};

}  // namespace assay::internal::certify
