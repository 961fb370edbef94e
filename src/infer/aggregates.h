// How the engines decide aggregates: count(*), sum, min and max of rows that the history does not
// list.
//
//   A: w(x,1)   B: w(y,2)   C: agg(sum value, value > 0,[3])       orders in which A and B come
//                                                                  before C explain it
//
// An aggregate constrains its keys jointly: very many combinations of their values may give the
// result (to find one for a sum is subset sum). So an order is first found without the aggregate,
// which is then evaluated along it: each key contributes a term, and the terms give the result or
// they do not. If not, the search gets a choice for it (levels/aggregate_choices.cc).
//
// If no versions of the keys give the aggregate, that is a violation, whatever the order. Where a
// transaction sees one state, its reads say which version of some keys that includes.
//
// Cost: for an order, linear in the operations and, for each aggregate, in the keys that may
// satisfy its condition.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/history.h"
#include "history/accesses.h"
#include "history/aggregate.h"
#include "infer/replay.h"

namespace assay::internal {

// One aggregate: its keys, the term of each, and whether the terms give the result.
class AggregateTerms {
 public:
  // `lists`: whether a key holds a list, indexed by key of the history.
  AggregateTerms(const History& history, const std::vector<bool>& lists, OpId op);

  OpId op() const { return op_; }
  TxnId reader() const { return h_->txn_of(op_); }
  // The keys within the bounds that ever held a value which may satisfy the condition.
  std::span<const KeyId> keys() const { return keys_; }
  PredicateId where() const { return aggregate_->where; }
  // The state that the transaction itself gave the key before the aggregate; null if none.
  const KeyState* own(KeyId key) const;
  // Whether the states of the keys decide the aggregate. Not if it involves lists, values that may
  // be there initially, or anything that depends on the database.
  bool is_decidable() const { return decidable_; }

  // Returns what a key adds in the state that `writer` left (kNone: the initial state), or in the
  // state that the aggregate's own transaction wrote before, if it did.
  AggregateTerm left(TxnId writer, KeyId key) const;
  AggregateTerm term(const KeyState& state) const;
  AggregateTerm term(VersionId version) const;
  // Whether these terms, one per key, give the result.
  Match given(std::span<const AggregateTerm> terms) const;
  // If the terms do not give the result: whether it may become right if a key contributes `other`
  // instead of `term`. As long as no key changes in this way, the result stays wrong, whatever else
  // changes.
  bool may_mend(std::span<const AggregateTerm> terms, const AggregateTerm& term,
                const AggregateTerm& other) const;

 private:
  struct Total {
    uint64_t rows = 0;
    int64_t value = 0;
    bool open = false;
  };
  Total total(std::span<const AggregateTerm> terms) const;

  const History* h_;
  OpId op_;
  const Aggregate* aggregate_;
  bool decidable_;
  std::vector<KeyId> keys_;
  std::unordered_map<KeyId, KeyState> own_;
};

// Returns, as a mismatch, an aggregate of a committed transaction that no version set gives;
// Anomaly::none if there is none. `one_state`: version sets must agree with the transaction's other
// reads.
BadRead impossible_aggregate(const History& history, bool one_state);

// The open aggregates that an order does not explain, ascending.
std::vector<OpId> unexplained_aggregates(const History& history, const Order& order);
// Returns those of `all` that the states of their keys decide.
std::vector<AggregateTerms> decidable_aggregates(const History& history, std::span<const OpId> all);

// Whether the order explains every operation, apart from aggregates. False for histories with lists
// or stated sources, for which that is not known.
bool replays(const History& history, const Order& order);

}  // namespace assay::internal
