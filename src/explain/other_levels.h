// What else the transactions of an explanation violate: which is the weakest level, and whether
// that needs what the database says of itself, or what its clients saw is enough.
//
//   s1: { w(x,1) }   s2: { w(x,2) w(y,1) }   s3: { r(y,1) r(x,1) }   order x: 1 2
//   Without the order s2 may come before s1, and the history is serializable: the violation needs
//   the statement.
//
// The transactions are decided once more, for all levels, and with neither stated orders of
// versions nor stated sources. What they violate then the whole history violates without its
// statements too, as they are a projection of it. That they do not, in the effort that explanations
// have, proves nothing of the whole. The levels of Adya are about orders, so they need statements
// of them unless lists give the order.
#pragma once

#include "assay/explanation.h"
#include "assay/history.h"

namespace assay::internal {

// Whether `other` is strictly weaker than `level`, sessions aside.
bool is_weaker(LevelId other, LevelId level);

// Sets `weakest`, which may be levels that were not asked for.
void set_weakest(const History& h, Explanation& e);

// Sets `need_statements`.
void set_statements_needed(const History& h, Explanation& e);

}  // namespace assay::internal
