// What else the transactions of an explanation violate: which is the weakest level, and whether the
// violation rests on what the database says about itself, or what its clients saw is enough.
//
//   s1: { w(x,1) }   s2: { w(x,2) w(y,1) }   s3: { r(y,1) r(x,1) }   order x: 1 2
//   Without the order s2 may come before s1, and the history is serializable: the violation rests
//   on the statement.
//
// The transactions are decided once more, for all levels, with neither stated orders of versions
// nor stated sources. If they still violate a level, so does the whole history without its
// statements, as they are a projection of it. If they do not, within the effort that explanations
// are given, that proves nothing about the whole. Adya's levels are about orders, so they need
// statements unless lists give the order.
#pragma once

#include "assay/explanation.h"
#include "assay/history.h"

namespace assay::internal {

// Whether `other` is strictly weaker than `level`, apart from session order.
bool is_weaker(LevelId other, LevelId level);

// Sets `weakest`, which may be levels that were not asked for.
void set_weakest(const History& h, Explanation& e);

// Sets `need_statements`.
void set_statements_needed(const History& h, Explanation& e);

}  // namespace assay::internal
