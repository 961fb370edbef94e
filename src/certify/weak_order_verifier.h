// Commit orders for the weak levels: the session guarantees, read committed, read atomic, causal.
//
// A commit order serves a level iff it contains session order and reads-from, and whenever a
// transaction reads x from t1 although it saw another writer t2 of x, t2 comes before t1. "Saw" is
// the level:
//
//   session guarantees   what its session, or that of a transaction it reads from, wrote or read (docs/levels/)
//   read committed       an earlier read of the transaction is from t2
//   read atomic          it reads from t2, or t2 is earlier in its session; and it reads each key from one writer only
//   causal               a chain of such steps leads from t2 to it
//
// { w(x,1) w(y,1) } | { w(x,2) w(y,2) } | { r(x,1) r(y,2) }: in this program order the third sees
// the first before it reads y from the second, so the first must come first; for read atomic also
// the second before the first, because of x. No order serves read atomic.
//
// Transactions are numbered by their place in the order, so "t2 before t1" is a comparison. Causal
// needs to know who saw whom: each transaction has a clock, per session how much of it it saw,
// thrown away after its last use; or where sessions are many and short, a set of transactions
// (seen_writers.h). O(operations) for the first two but for pairs (writer, reader) of
// large transactions, where the smaller is scanned; causal O(reads x sessions). Definitions: Biswas
// and Enea, OOPSLA 2019.
#pragma once

#include <vector>

#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/commit_order.h"

namespace assay::internal::certify {

// Those whose reads are asked for: of all transactions, or of those at whose places `only` is true.
struct Readers {
  const std::vector<bool>* only = nullptr;
  bool has(Place p) const { return only == nullptr || (*only)[p]; }
};

// `order` holds every committed transaction, none twice, no aborted one, and follows the sessions.
Status commit_order_serves(LevelId level, const History& history, const CommitOrder& order,
                           Readers readers = {});

}  // namespace assay::internal::certify
