// Commit orders for the weak levels: the session guarantees, read committed, read atomic, causal.
//
// A commit order serves a level iff it contains session order and reads-from, and whenever a
// transaction reads x from t1 although it saw another writer t2 of x, t2 comes before t1. Which
// transactions a transaction saw is in the level's row: words over s, a step of session order, and
// r, a step from a writer to its reader (LevelInfo::seen).
//
// { w(x,1) w(y,1) } | { w(x,2) w(y,2) } | { r(x,1) r(y,2) }: in this program order the third sees
// the first before it reads y from the second, so at read committed (r of an earlier read) the
// first must come first; at read atomic (s or r) also the second before the first, because of x. No
// order serves read atomic.
//
// Transactions are numbered by their place in the order, so "t2 before t1" is a comparison. Each
// word is one walk:
//
//   r                each reader, its sources and the earliest source of each key; of both the
//                    smaller is scanned
//   s rs sr rr rsr   session by session, the last writer of each key, among what the session's
//                    transactions wrote or read. It is compared with each transaction of the
//                    session or, if the word ends in r, with those that read from it
//   any number       256 neighbours in the order at a time: for each later transaction a bit for
//                    each of them says whether it saw it. A pass ends at the last reader that reads
//                    a key from before one of them that writes it
//
// Cost: operations, without pairs of writer and reader; for any number of steps, operations ×
// (transactions between the source and the reader) / 256, and 32 bytes a transaction and a key.
// Definitions: Biswas and Enea, OOPSLA 2019.
#pragma once

#include <vector>

#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/commit_order.h"

namespace assay::internal::certify {

// The transactions whose reads are checked: all, or those at whose places `only` is true.
struct Readers {
  const std::vector<bool>* only = nullptr;
  bool has(Place p) const { return only == nullptr || (*only)[p]; }
};

// `order` must hold every committed transaction, none twice, no aborted one, and follow the
// sessions.
Status commit_order_serves(const LevelInfo& level, const History& history, const CommitOrder& order,
                           Readers readers = {});

}  // namespace assay::internal::certify
