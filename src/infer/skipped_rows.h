// Rows that queries with conditions skipped, where an order contradicts them.
//
//   s1: { w(x,15) }   s2: { w(y,3) }   s3: { p(value < 20,[y=3]) }
//   The query returned y and not x, so x held nothing, or 20 and more. In the order s1 s2 s3 it
//   holds 15: a contradiction. In s2 s3 s1 there is none.
//
// A query says something of every key that ever held a value that satisfies its condition, and
// nearly any order that explains the rest is right about nearly all of them. So skipped rows are
// added lazily: find an order without them, add the ones that it contradicts, and repeat until
// there is no order or no contradiction. A violation that rests on some of the rows is a violation
// for all of them.
//
// Cost: along an order, for each query the keys that ever satisfied its condition; for many queries
// with one condition, the versions that satisfy it once, and for each query the versions at its
// place.
#pragma once

#include <compare>
#include <functional>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"

namespace assay::internal {

struct SkippedRow {
  OpId query = kNone;
  KeyId key = kNone;  // not a key that the query names

  friend auto operator<=>(const SkippedRow&, const SkippedRow&) = default;
};

// Whether the rows that an operation skipped may be left for later: the initial state always
// explains them.
bool skips_rows(const History& history, OpId op);

// The rows that an order contradicts, ascending; if there are any, also the rows that it would
// contradict if the query were up to `reach` events earlier or later.
std::vector<SkippedRow> contradicted(const History& history, const Order& order, uint32_t reach);

// Called by a search with an order that explains everything else: returns the rows that the order
// contradicts, or nearly does.
using FindContradicted = std::function<std::vector<SkippedRow>(const Order& order)>;

}  // namespace assay::internal
