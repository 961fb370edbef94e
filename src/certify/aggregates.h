// Aggregates, as the verifier judges them.
//
//   w(x,1)  w(y,2)   agg(sum value, value > 0,[3])    at its place in an order x = 1 and y = 2, and
//                                                     they add up to 3
//   w(x,1)  w(y,2)   agg(sum value, value > 0,[4])    no versions of x and y do: a mismatch at
//                                                     every level
//   w(x,1)  w(x,2)   r(x,1)  agg(sum value, value > 0,[2])    x is 1 where a transaction sees one
//                                                             state
//   A { w(x,1) }  B { w(y,2) }   agg(sum value, value > 0,[1])   it saw what A left of x, or not
//                                                                what B left of y
//
// An order explains an aggregate if the state at its place gives the result, and no part of that
// state is open. It is wrong in every order if it lies outside of the values that the versions of
// each key can add up to. A key that the transaction wrote before has one version, and so has, if
// all of its reads see one state, a key that it read in another operation. A refutation may say
// that it is wrong unless it saw the state of some key that one of certain transactions left: then
// the states that all others left must not give the result.
//
// Cost: the versions that may satisfy the condition; what keys add up to is listed while it is few,
// else bounded.
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
  // Certainly, certainly not, or that is open.
  Match gives(const Aggregate& aggregate) const;

 private:
  bool open_ = false;
  uint64_t rows_ = 0;
  int64_t sum_ = 0, least_ = 0, greatest_ = 0;
};

// Of what a key may have held when it was read.
AggregateTerm term_of(const History& history, const Conditions& conditions,
                      const Aggregate& aggregate, VersionId version);

// Whether the claim, a mismatch of an aggregate, holds; if `other` is set, given the transaction's
// other reads.
Status check_aggregate(const History& history, const BadRead& claim);

// Whether an aggregate gives something else than it returned unless it saw one of its keys as
// `unless` says.
Status check_gives_otherwise(const Sources& sources, const Writes& writes, OpId aggregate,
                             const LevelInfo& level, std::span<const Literal> unless);

}  // namespace assay::internal::certify
