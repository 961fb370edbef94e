// Which versions satisfy the conditions of ranges: the verifier's own answer, from the rows themselves.
#pragma once

#include <vector>

#include "assay/history.h"
#include "history/condition.h"

namespace assay::internal::certify {

class Conditions {
 public:
  explicit Conditions(const History& history) : history_(history) {}

  // Without a condition every value satisfies; null never does.
  Match match(PredicateId predicate, VersionId version) const;
  Match match_initial(PredicateId predicate) const;

 private:
  const History& history_;
  // The versions that were asked for, as rows.
  mutable std::vector<Row> rows_;
};

}  // namespace assay::internal::certify
