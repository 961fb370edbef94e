// Lost updates that only counting shows.
//
//   lock is free, and free again once:   { cas(lock,held,free) }
//   taken three times:                   { cas(lock,free,held) } { cas(lock,free,held) } { cas(lock,free,held) }
//
// Where no update is lost, who read a version of a key and overwrote it comes directly after that version, and
// nobody else does. So at most as many committed transactions can do this with a value as the value was there:
// initially, and each time it was written by a transaction that did not abort. Who wrote what they read need not be
// known, which is what makes this worth the look: with values that repeat, as those of a lock do, the search
// over writers would go through all ways to share out too few. O(operations).
#pragma once

#include "assay/certificate.h"
#include "assay/history.h"

namespace assay::internal {

// A read of a value that was overwritten more often than it was there, as a lost update; Anomaly::none if there is
// none.
BadRead find_overdrawn(const History& history);

}  // namespace assay::internal
