// What an aggregate may have been computed from: the oracle's definition of it.
//
//   w(x,1)  w(x,4)  w(y,3)      agg(sum value, value > 0,[4]):  of x = 4 alone, or of x = 1 and y =
//                               3
//
// An aggregate was computed from one version of each key, or from its absence. Only sets of
// versions that give the result count, and the history satisfies a level if it does so with one of
// these sets for each aggregate, returned as rows.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "assay/history.h"

namespace assay::internal::oracle {

// Returns the history once for each choice of rows; nullopt if there are more choices than the
// oracle tries, or if what a row adds is open. Without aggregates it returns one history.
std::optional<std::vector<History>> with_rows_returned(const History& history);

bool has_aggregates(const History& history);

}  // namespace assay::internal::oracle
