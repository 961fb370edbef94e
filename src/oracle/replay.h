// Levels with one order of events: prefix, the snapshot isolations, the serializabilities.
//
// A transaction is one event (it reads and writes at once) or two: r, where it reads a snapshot of
// the database, and later w, where it installs its writes. A history satisfies the level iff its
// events can be put in an order such that, if they are executed one after another on an empty
// database, every operation returns what the history says, and the order fulfils what the level
// demands:
//
//   session order     w of a transaction before r of the next one of its session
//   write conflict    of two transactions that write one key, one is over before the other begins
//   real time         what ended before something else began comes first (which events, see below)
//
// Lost update { r(x,0) w(x,1) } | { r(x,0) w(x,2) }: with two events both may read 0 before either
// writes, so prefix accepts it; with the write conflict one must be over first and the other then
// reads 1 or 2.
//
// The search tries every event that may come next, depth first, and remembers the situations that
// led nowhere: the set of executed events and the state of every key that is still to be read. It
// is exponential, for up to about ten transactions. Definitions: Adya's start-ordered graphs in
// their operational form, Biswas-Enea's split transactions.
#pragma once

#include "assay/certificate.h"
#include "assay/level.h"
#include "oracle/precedence.h"

namespace assay::internal::oracle {

struct OrderRule {
  bool split;  // two events per transaction
  bool session_order;
  bool write_conflict;  // only if split
  RealTime real_time;
};

// Whether such an order exists if exactly `effective` took effect. unknown: too many states.
Outcome replayable(const History& h, const Footprints& small, const OrderRule& rule,
                   TxnSet effective);

}  // namespace assay::internal::oracle
