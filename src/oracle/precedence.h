// Which transactions must come before which, whatever they read: session order and real time.
//
//   s1: @[0,10] { w(x,1) } @[20,30] { r(y,2) }      the first precedes the second, by session and
//                                                   by time
//   s2: @[12,15] { w(y,2) }                         after the first and before the second of s1, by
//                                                   time
//
// A transaction of unknown outcome that took effect did so at some time after its begin: its
// session continues without it, so it precedes nothing by session order, and its commit has no
// latest moment.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/level.h"
#include "oracle/footprint.h"

namespace assay::internal::oracle {

// A set of the transactions of a Footprints, one bit each.
using TxnSet = uint32_t;

inline constexpr bool contains(TxnSet set, int t) { return (set >> t) & 1u; }

// Whether both are in one session, i is before j, and i is certain.
bool session_before(const History& h, const Footprint& i, const Footprint& j);

// Whether the response of `a` is strictly before the request of `b` or, if they belong to sessions
// whose clocks drift apart, earlier by at least the drift; false if either is not known. The moment
// of a transaction is its commit (its writes) or its begin (its reads).
bool time_before(const History& h, const Footprint& a, bool a_commit, const Footprint& b,
                 bool b_commit);

// Whether every certain transaction has both times.
bool has_times(const History& h, const Footprints& small);

}  // namespace assay::internal::oracle
