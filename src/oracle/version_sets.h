// What an aggregate may have been computed of: the oracle's definition of it.
//
//   w(x,1)  w(x,4)  w(y,3)      agg(sum value, value > 0,[4]):  of x = 4 alone, or of x = 1 and y =
//                               3
//
// An aggregate was computed of one version of each key, or of its absence. Only sets of versions
// that give the result count, and the history satisfies a level if it does with one of them for
// each aggregate, returned as rows.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "assay/history.h"

namespace assay::internal::oracle {

// The history once for each choice of rows; nothing if these are more than the oracle tries, or
// what a row adds is open. Without aggregates one.
std::optional<std::vector<History>> with_rows_returned(const History& history);

bool has_aggregates(const History& history);

}  // namespace assay::internal::oracle
