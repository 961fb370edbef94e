// Runs a history on an imaginary database that does one thing at a time, in the order that a
// certificate gives, and asks of every operation whether its result is the right one.
//
//   order r(A) r(B) w(A) w(B) of   A: { r(x,0) w(x,1) }   B: { r(x,0) w(y,1) }
//
// At r(T) every read of T sees the current state of its key, or T's own last write; at w(T) T's
// writes become the current state, of each key only the last. An aborted or an intermediate version
// is never current, so no read can see one. A history that can be replayed in some order is
// explained by that order: this is the definition of prefix consistency and the levels above,
// except for their conditions on the order itself (order_verifier.h). An aggregate is computed from
// the state at its place.
//
// A key holds a value, nothing (never written, removed, or null) or a list. O(operations), plus
// O(log keys) for every present key that a range query passes; with a condition, for every version
// that satisfies it, if these are fewer.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "certify/aggregates.h"
#include "certify/conditions.h"
#include "certify/present_keys.h"

namespace assay::internal::certify {

class Replay {
 public:
  explicit Replay(const History& history);

  // r(T): judges every operation of T against the current state and T's own writes.
  Status read(TxnId t) { return read(t, history_.first_op(t), history_.end_op(t)); }
  // The same for its operations from `first` up to `end`; those before them must have been judged.
  Status read(TxnId t, OpId first, OpId end);
  // w(T): installs T's writes.
  Status install(TxnId t);

 private:
  struct Key {
    State current;  // version kUnnamed: a list
    State own;      // the state in which the transaction `owner` left it
    TxnId owner = kNone;
  };
  struct OwnList {
    bool extends = false;  // whether the current list comes before `added`
    std::vector<VersionId> added;
  };

  const State& seen(const Key& key, TxnId t) const {
    return key.owner == t ? key.own : key.current;
  }
  bool shows_list(KeyId key, TxnId t, std::span<const VersionId> elements) const;

  Status judge(TxnId t, const Access& a);
  Status judge_range(TxnId t, OpId i);
  Status judge_aggregate(TxnId t, OpId i, const Aggregate& aggregate);
  bool takes_elements(const State& state) const;
  Status append_own(TxnId t, const Access& a);
  Status append(TxnId t, const Access& a);
  void own_write(TxnId t, KeyId key, const State& left);
  Error mismatch(TxnId t, OpId i) const;
  Error other_source(TxnId t, OpId i, const State& state) const;

  const History& history_;
  const Conditions conditions_;
  std::vector<Key> keys_;
  std::vector<std::vector<VersionId>> lists_;  // indexed by key, once something is appended
  std::vector<OwnList> own_lists_;
  std::unique_ptr<PresentKeys> present_;  // set only if the history has range queries
  std::vector<KeyId> own_keys_;           // keys that the current transaction wrote
};

}  // namespace assay::internal::certify
