#include "certify/conditions.h"

#include "history/predicates.h"

namespace assay::internal::certify {

Match Conditions::match(PredicateId predicate, VersionId version) const {
  const ValueView value = history_.version_value(version);
  if (value.is_null()) return Match::no;
  if (predicate == kNone) return Match::yes;
  if (rows_.empty()) rows_.resize(history_.version_count());
  Row& row = rows_[version];
  if (row.empty()) row = row_of(value);
  const Truth truth = history_.predicates().condition(predicate).holds(row);
  if (truth.certainly_true()) return Match::yes;
  return truth.may_be_true() ? Match::open : Match::no;
}

Match Conditions::match_initial(PredicateId predicate) const {
  if (history_.initial().is_null()) return Match::no;
  if (predicate == kNone) return Match::yes;
  return match_of(history_.predicates().condition(predicate), history_.initial());
}

}  // namespace assay::internal::certify
