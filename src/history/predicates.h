// The conditions of a history's ranges, and which versions satisfy them.
//
//   w(x,12)   w(x,30)   p(value < 20, [x=12])
//   The condition `value < 20` is satisfied by x = 12, not by x = 30, and not by an absent x.
//
// The versions that satisfy a condition are found once, when the history is complete. For a
// comparison of a column with integers, only the versions within its bounds are looked at.
//
// Cost: the versions, sorted by each column that is compared; a condition costs the versions within
// its bounds, and one without bounds all of them. Memory: four bytes for each pair of a condition
// and a version that satisfies it, or a key that has such a version.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/budget.h"
#include "assay/history.h"
#include "history/aggregate.h"
#include "history/condition.h"

namespace assay::internal {

class Predicates {
 public:
  // The number of a condition; equal conditions have the same number. Fails if the text is not a
  // condition.
  Result<PredicateId> intern(std::string_view text);
  // The number of an operation's aggregate, whose `where` is such a text; equal aggregates with
  // equal values have the same number. The conditions of the aggregate's claim are numbered, too.
  Result<uint32_t> intern(const Op& query);
  // Finds the versions that satisfy each condition; the versions of `history` must be complete.
  // `budget` may be null.
  Status index(const History& history, Budget* budget);

  size_t size() const { return conditions_.size(); }
  const Condition& condition(PredicateId p) const { return conditions_[p]; }
  const std::string& text(PredicateId p) const { return texts_[p]; }
  size_t aggregate_count() const { return aggregates_.size(); }
  const Aggregate& aggregate(uint32_t a) const { return aggregates_[a]; }
  // The text of an aggregate.
  const std::string& aggregate_text(uint32_t a) const { return aggregate_texts_[a]; }
  // The aggregate as an operation again, with the bounds of a range.
  Op query(uint32_t a, ValueView lo = {}, ValueView hi = {}) const;

  // Whether the version satisfies the condition; null never does.
  Match match(PredicateId p, VersionId v) const {
    const bool yes = satisfies_.empty()
                         ? std::binary_search(certain_[p].begin(), certain_[p].end(), v)
                         : satisfies_[p * versions_ + v];
    if (yes) return Match::yes;
    if (open_[p].empty()) return Match::no;
    return std::binary_search(open_[p].begin(), open_[p].end(), v) ? Match::open : Match::no;
  }
  // Whether the initial value of every key satisfies the condition.
  Match match_initial(PredicateId p) const { return initial_[p]; }
  // Whether some key may satisfy the condition before anything is written.
  bool matches_initially(PredicateId p) const { return matches_initially_[p]; }
  // Per aggregate the only written version that may have the value that a min or max returned;
  // kNone if there is no such version or more than one, if it does not certainly satisfy the
  // condition, or if a deletion has it as tombstone.
  std::vector<VersionId> only_versions(const History& history) const;
  // The versions that satisfy the condition, and the versions that may; both ascending.
  std::span<const VersionId> certain(PredicateId p) const { return certain_[p]; }
  std::span<const VersionId> open(PredicateId p) const { return open_[p]; }
  // The keys of these versions, ascending.
  std::span<const KeyId> keys(PredicateId p) const { return keys_[p]; }

 private:
  VersionId only_version(const History& history, const Aggregate& known,
                         const std::vector<bool>& written) const;

  std::vector<Condition> conditions_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, PredicateId> by_text_;  // by the text as written, and by the text
                                                          // as printed
  std::vector<std::vector<VersionId>> certain_, open_;    // per condition
  std::vector<std::vector<KeyId>> keys_;                  // per condition
  std::vector<Match> initial_;                            // per condition
  std::vector<bool> matches_initially_;                   // per condition
  std::vector<Aggregate> aggregates_;
  std::vector<std::string> aggregate_texts_;
  std::unordered_map<std::string, uint32_t> aggregate_by_text_;
  // A bit for each condition and version: whether the version certainly satisfies the condition.
  // Empty if there would be too many.
  std::vector<bool> satisfies_;
  size_t versions_ = 0;
};

// Whether a query skipped a key that was written but never held a value that satisfies the
// condition: it may have seen any version of the key.
bool may_skip_any_version(const History& history);

// Whether a value satisfies a condition.
Match match_of(const Condition& condition, const ValueView& value);

}  // namespace assay::internal
