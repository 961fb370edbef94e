// The smallest part of a history that violates a level by the same fault as the whole.
//
//   s1: { w(x,1) }   s2: { r(x,1) w(x,2) }   s3: { r(x,1) w(x,3) }   and ten thousand others
//   A lost update stays one: neither a stale read elsewhere nor a read that lost its writer takes its place.
//
// A part is a projection (history/projection.h), so whatever is wrong with it is wrong with the whole. A fault that two
// operations show stays that fault; one that a cycle or a search shows keeps its name as soon as the part is small enough
// to be explained again, and is never traded for one of two operations.
#pragma once

#include "assay/anomaly.h"
#include "assay/check.h"
#include "explain/shrink.h"

namespace assay::internal {

// `anomaly`: what `history` violates `level` by. Checks with `checking`, for this level alone; the verifier agrees with
// every step. A usage error if `history` does not violate the level so.
Result<Shrunk> shrink_violation(const History& history, LevelId level, Anomaly anomaly,
                                CheckOptions checking, const ShrinkOptions& options);

}  // namespace assay::internal
