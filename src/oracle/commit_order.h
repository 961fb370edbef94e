// The weak levels: the session guarantees, read committed, read atomic, causal.
//
// A history satisfies one of them iff there is a total order of its transactions, the commit order,
// that contains session order and reads-from and in which, whenever a read of x returns what t1
// wrote although another writer t2 of x was visible to it, t2 comes before t1. The levels differ in
// what "visible" means:
//
//   read your writes     t2 is earlier in the session of the reading transaction
//   monotonic reads      an earlier transaction of its session read from t2
//   monotonic writes     it read from a transaction whose session has t2 earlier
//   writes follow reads  it read from a transaction that, or an earlier one of whose session, had
//                        read from t2
//   read committed       an earlier read of the same transaction returned something of t2
//   monotonic atomic view   the same, and the commit order need not contain session order
//   read atomic          the reading transaction read from t2, or t2 is earlier in its session
//   causal               a chain of such steps leads from t2 to it
//
// { w(x,1) w(y,1) } | { w(x,2) w(y,2) } | { r(x,1) r(y,2) }: the third reads from both. Read atomic
// requires the second before the first because of x and the first before the second because of y;
// read committed requires only the latter.
//
// Visibility does not depend on the commit order, so the order exists iff all these demands
// together have no cycle. Definitions: Biswas and Enea 2019, axioms of section 3. If the order of
// writes is known (lists, known orders), the commit order contains it.
#pragma once

#include "assay/certificate.h"
#include "assay/level.h"
#include "oracle/reads_from.h"

namespace assay::internal::oracle {

enum class Visibility {
  read_your_writes,
  monotonic_reads,
  monotonic_writes,
  writes_follow_reads,
  monotonic_atomic_view,
  read_committed,
  read_atomic,
  causal,
  defined  // as a row given by the user says
};

// Whether such a commit order exists if exactly `effective` took effect. unknown: too many ways to
// attribute reads to writers.
Outcome commit_order_exists(const History& h, const Footprints& small, Visibility visibility,
                            TxnSet effective);

}  // namespace assay::internal::oracle
