// The level of statement snapshots: multiversion read committed.
//
// Each statement of a transaction is one event, and so is its commit. A history satisfies the level
// iff these events can be put in an order such that, executed one after another on an empty
// database,
//
//   a statement        reads the versions committed last before it, and its transaction's own
//                      writes; and locks the keys that it writes, until the commit: no other
//                      transaction may have locked one of them
//   a commit           comes after the statements of the transaction, which are in program order,
//                      and before the first one of the next transaction of the session
//
// Long fork { w(x,1) } | { w(y,1) } | { r(x,1) r(y,0) } | { r(y,1) r(x,0) }: the third requires the
// commit of the first before that of the second, the fourth the opposite. A lost update { r(x,0)
// w(x,1) } | { r(x,0) w(x,2) } is allowed: both read before either locks.
//
// The search tries every event that may come next, depth first, and remembers the situations that
// led nowhere. It is exponential, for up to about ten transactions.
#pragma once

#include "assay/certificate.h"
#include "oracle/precedence.h"

namespace assay::internal::oracle {

// Whether such an order exists if exactly `effective` took effect. unknown: too many situations.
Outcome statements_replayable(const History& h, const Footprints& small, TxnSet effective);

}  // namespace assay::internal::oracle
