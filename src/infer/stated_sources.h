// Whose write a read returned, where the history says so.
//
//   s1: A { w(x,1) }   s2: B { w(x,1) }   s3: C { r(x,A=1) }      A or B may have left 1; C is
//                                                                 stated to have read A's
//   s1: A { w(x,2) }   s3: C { r(x,A=1) }                         a contradiction: A did not write
//                                                                 1
//
// A statement is dropped if it contradicts what was read: if its transaction did not write what was
// read, or, where the reader had written the key before, is another one. What remains is a fact,
// also where it condemns the database: a read of what an aborted transaction wrote, or of what its
// transaction overwrote.
//
// Cost: a statement takes the time of the operations of the two transactions.
#pragma once

#include <string>

#include "assay/certificate.h"
#include "assay/history.h"

namespace assay::internal {

// Of a read that looks outside of its transaction: the transaction that it was from, kInitialTxn
// for the initial state; kNone if nothing that can be right is stated. `history` states sources.
TxnId stated_source(const History& history, OpId read);

// The last write with which the transaction wrote what the read returned.
OpId stated_write(const History& history, OpId read, TxnId source);

// Whether its transaction writes the key again.
bool is_overwritten(const History& history, OpId write);

// That the read is stated to be from what nobody may see of its transaction; no anomaly if it is
// not.
BadRead stated_dirty_read(const History& history, OpId read);

// That the read is stated to be from another transaction than an earlier one of the key; likewise.
BadRead stated_other_read(const History& history, OpId read);

// The first contradiction of a transaction that did not abort, as a sentence; empty if there is
// none.
std::string contradicted_source(const History& history);

}  // namespace assay::internal
