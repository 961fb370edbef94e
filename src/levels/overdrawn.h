// Lost updates that only counting shows.
//
//   lock is free, and free again once:   { cas(lock,held,free) }
//   taken three times:                   { cas(lock,free,held) } { cas(lock,free,held) } {
//                                        cas(lock,free,held) }
//
// If no update is lost, a transaction that read a version of a key and overwrote it comes directly
// after that version, and no other one does. So the number of committed transactions that do this
// with a value is at most the number of times the value was there: initially, and each time it was
// written by a transaction that did not abort. The writer of what they read need not be known,
// which makes the rule useful: if values repeat, like those of a lock, the search would try every
// way to assign too few writers. O(operations).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"

namespace assay::internal {

// A read of a value that was overwritten more often than it was there, as a lost update;
// Anomaly::none if there is none.
BadRead find_overdrawn(const History& history);

// Visits the reads of committed transactions that then overwrote what they had read, in the order
// of the file, until `take` returns false. A null may be the initial value or any removal, and is
// not visited.
void each_update(const History& history,
                 const std::function<bool(OpId read, VersionId version)>& take);
// How often a value was there: initially, and each time it was written by a transaction that did
// not abort.
std::vector<int64_t> times_there(const History& history);

}  // namespace assay::internal
