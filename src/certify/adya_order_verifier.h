// Orders for Adya's levels: they give each key its version order, the order of its writers, and
// leave no forbidden cycle.
//
//   s1: A { a(l,1) }   s2: B { r(l,[]) a(m,1) }   s3: C { r(l,[1]) r(m,[]) }      order A C B
//   B read what A overwrote, against the order; C read what B overwrote, along it. pl-3: refused.
//   One anti-dependency runs back from B to A; does A lead to B by reads and writes? No: pl-2+ is
//   served.
//
// Every read must be from before the reader, so write and read dependencies run forwards and cannot
// close a cycle. What a range saw of a key that it did not return counts as a read of the last
// transaction that changed the match. An anti-dependency leads from a reader to the next writer of
// the key; later writers are reached through that one.
//
// So a cycle needs an anti-dependency that runs back. What the order has to show for a cycle that
// the level's row forbids (assay/level.h):
//
//   w               nothing: write dependencies run forwards
//   wr              every read is from before
//   w, a once, on one key
//                   a transaction that reads and writes a key reads from the writer before it
//   wr, a or p once an anti-dependency that runs back is closed by no path of the other kinds
//                   between its ends
//   wrap, a once    the anti-dependencies that run back are of ranges that found a key absent, and
//                   none of another kind lies between transactions that these join
//   wrap            none runs back
//
// For the last but one: a transaction on a cycle is between the ends of an edge that runs back.
// Stretches between such ends that overlap are one; an edge from one stretch to a later one is on
// no cycle.
//
// Cost: linear, except for the paths between the ends of edges that run back; after 100 million
// steps the order is refused.
#pragma once

#include <span>

#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/commit_order.h"
#include "certify/writes.h"

namespace assay::internal::certify {

// `order` must hold every committed transaction, none twice, no aborted one, and agree with the
// known orders.
Status leaves_no_cycle(std::span<const ForbiddenCycle> forbidden, const History& history,
                       const CommitOrder& order);

// Whether an order that is not a commit order, since some reads are dirty, serves pl-1. It must
// hold what a commit order holds.
Status dirty_order_serves(const Writes& writes, std::span<const TxnId> order);

}  // namespace assay::internal::certify
