// The part of a history that consists of some of its operations, made to show nothing that the
// whole does not show: if the whole satisfies a level, so does the part.
//
//   s1: { w(x,1) }   s2: { r(y,null) ins(x,9)! }   s3: { w(y,1) } { w(x,2) }
//   Without s1, the failed insert must have met x = 2, but s2 did not see y = 1. So the insert
//   goes too.
//
// An omitted write takes every observation that it may explain with it. An observation stays if the
// writes of all versions that could explain it stay, whatever the outcome of their transactions, or
// if no write of the key stays and the initial state explains it. A read whose observation goes is
// dropped; a compare-and-set or an insert that took effect becomes a plain write; a list loses the
// omitted elements, or goes if one of them may be another transaction's or if it would then be read
// from another transaction; a range shrinks to the longest run of its keys whose observations stay.
// A transaction's observation of its own writes goes if the last of these writes before it goes; in
// histories with ranges an observation of a key goes if any of the transaction's writes of the key
// goes. An observation that a key did not satisfy a condition stays if no value ever written to the
// key certainly satisfies it. Stated orders keep the versions all of whose writes stay. Sessions,
// times, outcomes, names and events stay as they are.
//
// Shrinking, explaining and everything else that keeps some of the transactions goes through here.
// Linear in the history, but for the keys that ranges cover.
#pragma once

#include <vector>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal {

// `keep` has one entry per operation. Transactions of which nothing stays are left out. `origins`
// becomes, for each operation of the part, the operation of the whole that it was.
Result<History> project(const History& history, const std::vector<bool>& keep,
                        std::vector<OpId>* origins = nullptr);

}  // namespace assay::internal
