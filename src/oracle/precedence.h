// What must come before what, whatever the transactions read: session order and real time.
//
//   s1: @[0,10] { w(x,1) } @[20,30] { r(y,2) }      the first precedes the second, by session and
//                                                   by time
//   s2: @[12,15] { w(y,2) }                         after the first and before the second of s1, by
//                                                   time
//
// A transaction of unknown outcome that took effect did so at some time after it began: its session
// goes on without it, so it precedes nothing by session, and its commit has no latest moment.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/level.h"
#include "oracle/footprint.h"

namespace assay::internal::oracle {

// A set of the transactions of a Footprints, one bit each.
using TxnSet = uint32_t;

inline constexpr bool contains(TxnSet set, int t) { return (set >> t) & 1u; }

// Both of one session, i before j, and i certain.
bool session_before(const History& h, const Footprint& i, const Footprint& j);

// Response of `a` strictly before request of `b`, or, of different sessions whose clocks drift
// apart, before it by the drift at least; false when either is not known. The moment of a
// transaction is its commit (its writes) or its begin (its reads).
bool time_before(const History& h, const Footprint& a, bool a_commit, const Footprint& b,
                 bool b_commit);

// True if every certain transaction has both times.
bool has_times(const History& h, const Footprints& small);

}  // namespace assay::internal::oracle
