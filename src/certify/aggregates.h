// Aggregates, as the verifier judges them.
//
//   w(x,1)  w(y,2)   agg(sum value, value > 0,[3])    at its place in an order x = 1 and y = 2, and
//                                                     they add up to 3
//   w(x,1)  w(y,2)   agg(sum value, value > 0,[4])    no versions of x and y give 4: a mismatch at
//                                                     every level
//   w(x,1)  w(x,2)   r(x,1)  agg(sum value, value > 0,[2])    x is 1 if a transaction sees one
//                                                             state
//   A { w(x,1) }  B { w(y,2) }   agg(sum value, value > 0,[1])   it saw what A left of x, or not
//                                                                what B left of y
//
// An order explains an aggregate if the state at its place gives the result, and no part of that
// state is open. The aggregate is wrong in every order if its result is not among the values that
// the versions of each key can add up to. A key that the transaction wrote before has one version;
// so has a key that it read in another operation, if all of its reads see one state. A refutation
// may say that the aggregate is wrong unless it saw the state of some key that one of certain
// transactions left: then the states that all others left must not give the result.
//
// Cost: the versions that may satisfy the condition. The values that keys add up to are listed as
// long as they are few, and otherwise bounded.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/conditions.h"
#include "certify/sources.h"
#include "history/aggregate.h"

namespace assay::internal::certify {

// Adds up what rows add to an aggregate.
class Total {
 public:
  void add(const AggregateTerm& term);
  // Whether the total certainly gives the aggregate's result, certainly does not, or this is open.
  Match gives(const Aggregate& aggregate) const;

 private:
  bool open_ = false;
  uint64_t rows_ = 0;
  int64_t sum_ = 0, least_ = 0, greatest_ = 0;
};

// The term of what a key may have held when it was read.
AggregateTerm term_of(const History& history, const Conditions& conditions,
                      const Aggregate& aggregate, VersionId version);

// Checks that the claim, a mismatch of an aggregate, holds; if `other` is set, given the
// transaction's other reads.
Status check_aggregate(const History& history, const BadRead& claim);

// Checks that an aggregate gives something else than it returned unless it saw one of its keys as
// `unless` says.
Status check_gives_otherwise(const Sources& sources, const Writes& writes, OpId aggregate,
                             const LevelInfo& level, std::span<const Literal> unless);

}  // namespace assay::internal::certify
