// Which versions satisfy the conditions of ranges: the verifier's own answer, from the rows
// themselves; of rows that no query names, only where the index of the history says that they may.
#pragma once

#include <span>
#include <vector>

#include "assay/history.h"
#include "certify/operations.h"
#include "history/condition.h"

namespace assay::internal::certify {

class Conditions {
 public:
  explicit Conditions(const History& history) : history_(history) {}

  // Without a condition every value satisfies; null never does.
  Match match(PredicateId predicate, VersionId version) const;
  // Whether the initial value of every key satisfies it.
  Match match_initial(PredicateId predicate) const;
  Match match(PredicateId predicate, const State& state) const;
  // Whether what a range with this condition says of a key that it names is right of this state.
  bool agrees(PredicateId predicate, const Named& named, const State& state) const;
  // By the index of the history, which lists all that may satisfy a condition: of thousands of
  // states that no query names few do, and only these are evaluated.
  bool certainly_misses(PredicateId predicate, const State& state) const;
  // Whether a range selects a key in one of these states and not in the other; neither may be open.
  bool differ(OpId range, const State& a, const State& b) const;
  // Whether a key that the range saw as `seen`, without returning it, enters or leaves what the
  // range selects. If it is open whether `seen` matches, the range decides: it does if the range
  // names the key as matched, else it does not.
  bool changes(OpId range, KeyId key, const State& seen, const State& after) const {
    return first_change(range, key, seen, {&after, 1}) == 0;
  }
  // The first of `states` that does; their number if there is none.
  size_t first_change(OpId range, KeyId key, const State& seen,
                      std::span<const State> states) const;
  // The last of `states`, which a key held one after the other behind the initial one, that made it
  // enter or leave what a range selects; their number if there is none, or if a state right before
  // is open.
  size_t last_change(OpId range, const State& initial, std::span<const State> states) const;

 private:
  bool is_tombstone(VersionId version) const;
  // As match(), by the index first.
  Match match_by_index(PredicateId predicate, const State& state) const {
    return certainly_misses(predicate, state) ? Match::no : match(predicate, state);
  }

  const History& history_;
  // The versions that were asked for, as rows.
  mutable std::vector<Row> rows_;
  mutable std::vector<bool> tombstone_;  // per version, filled when needed
};

}  // namespace assay::internal::certify
