// The rows that queries with conditions passed over, where an order contradicts them.
//
//   s1: { w(x,15) }   s2: { w(y,3) }   s3: { p(value < 20,[y=3]) }
//   The query returned y and not x, so x held nothing, or 20 and more. In the order s1 s2 s3 it
//   holds 15: a contradiction. In s2 s3 s1 there is none.
//
// A query says something of every key that ever held what satisfies its condition, and nearly any
// order that explains the rest is right about nearly all of them. So the levels that an order
// decides begin without, and take in the rows that an order contradicts, until no order is left or
// one contradicts none: what is violated with a part of what was seen is violated with all of it.
//
// Cost: along an order, for each query the keys that ever satisfied its condition; of many queries
// of one condition, the versions that satisfy it once, and for each query those that stand at its
// place.
#pragma once

#include <compare>
#include <functional>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"

namespace assay::internal {

struct PassedOver {
  OpId query = kNone;
  KeyId key = kNone;  // that it does not name

  friend auto operator<=>(const PassedOver&, const PassedOver&) = default;
};

// Whether what an operation passed over may be left for later: the initial state always explains
// that.
bool passes_over(const History& history, OpId op);

// What an order contradicts of that, ascending; and if it contradicts any, what it would contradict
// if the query stood up to `reach` events earlier or later.
std::vector<PassedOver> contradicted(const History& history, const Order& order, uint32_t reach);

// What a search asks of an order that explains all else: what it contradicts, or nearly.
using FindContradicted = std::function<std::vector<PassedOver>(const Order& order)>;

}  // namespace assay::internal
