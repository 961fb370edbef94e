// Orders in which each statement of a transaction has a separate moment.
//
//   r(A) r(B) w(B) r(A) w(A) of   A: { r(x,0) r(x,1) }   B: { w(x,1) }
//
// The first r(T) is T's first statement, and so on; the last stands for all remaining ones. A
// statement is judged as in replay.h. From the first one that writes a key up to w(T) no other
// transaction may have such a statement. O(operations).
#pragma once

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::certify {

// `order` must hold every committed transaction once, no aborted one, r before w, and follow the
// sessions.
Status statement_order_serves(const History& history, const Order& order);

}  // namespace assay::internal::certify
