// Which versions satisfy the conditions of ranges: the verifier's own answer, from the rows
// themselves. Rows that no query names are evaluated only if the index of the history says that
// they may satisfy the condition.
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

  // Whether the version satisfies the condition. Without a condition every value does; null never
  // does.
  Match match(PredicateId predicate, VersionId version) const;
  // Whether the initial value of every key satisfies the condition.
  Match match_initial(PredicateId predicate) const;
  Match match(PredicateId predicate, const State& state) const;
  // Whether what a range with this condition says about a key that it names is right for this
  // state.
  bool agrees(PredicateId predicate, const Named& named, const State& state) const;
  // Whether the state certainly does not satisfy the condition. The index of the history lists all
  // versions that may: of thousands of states that no query names few do, and only these are
  // evaluated.
  bool certainly_misses(PredicateId predicate, const State& state) const;
  // Whether a range selects a key in exactly one of these states; neither may be open.
  bool differ(OpId range, const State& a, const State& b) const;
  // Whether a key that the range saw as `seen`, without returning it, enters or leaves what the
  // range selects. If it is open whether `seen` matches, the range decides: it matches if the range
  // names the key as matched, and otherwise it does not.
  bool changes(OpId range, KeyId key, const State& seen, const State& after) const {
    return first_change(range, key, seen, {&after, 1}) == 0;
  }
  // The index of the first of `states` for which changes() is true; their number if there is none.
  size_t first_change(OpId range, KeyId key, const State& seen,
                      std::span<const State> states) const;
  // The index of the last of `states`, which a key held one after the other after the initial one,
  // that made the key enter or leave what a range selects; their number if there is none, or if a
  // state right before is open.
  size_t last_change(OpId range, const State& initial, std::span<const State> states) const;

 private:
  bool is_tombstone(VersionId version) const;
  // The same as match(), asking the index first.
  Match match_by_index(PredicateId predicate, const State& state) const {
    return certainly_misses(predicate, state) ? Match::no : match(predicate, state);
  }

  const History& history_;
  // The versions that have been asked for, as rows.
  mutable std::vector<Row> rows_;
  mutable std::vector<bool> tombstone_;  // indexed by version; filled when needed
};

}  // namespace assay::internal::certify
