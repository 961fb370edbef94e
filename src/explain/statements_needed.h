// Whether a violation needs what the database says of itself, or what its clients saw is enough.
//
//   s1: { w(x,1) }   s2: { w(x,2) w(y,1) }   s3: { r(y,1) r(x,1) }   order x: 1 2
//   Without the order s2 may come before s1, and the history is serializable: the violation needs the statement.
//
// The transactions that an explanation names are decided once more, with neither stated orders of versions nor stated sources.
// What they violate then the whole history violates without its statements too, as they are a projection of it. That they do
// not, in the effort that explanations have, proves nothing of the whole. The levels of Adya are about orders, so they need
// statements of them unless lists give the order.
#pragma once

#include "assay/explanation.h"
#include "assay/history.h"
#include "explain/accesses.h"

namespace assay::internal {

// Sets `need_statements`.
void tell_statements_needed(const History& h, const Accesses& accesses, Explanation& e);

}  // namespace assay::internal
