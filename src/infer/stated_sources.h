// The stated sources of reads.
//
//   s1: A { w(x,1) }   s2: B { w(x,1) }   s3: C { r(x,A=1) }      A or B may have left 1; C is
//                                                                 stated to have read A's
//   s1: A { w(x,2) }   s3: C { r(x,A=1) }                         a contradiction: A did not write
//                                                                 1
//
// A statement is dropped if it contradicts the read: if its transaction did not write the value, or
// if the reader had written the key before and the statement names another transaction. The rest
// are facts, even if they condemn the database: a read of an aborted write, or of a write that its
// transaction overwrote.
//
// Cost: a statement takes the time of the operations of the two transactions.
#pragma once

#include <string>

#include "assay/certificate.h"
#include "assay/history.h"

namespace assay::internal {

// Returns the transaction that a read which looks outside its transaction read from, kInitialTxn
// for the initial state; kNone if nothing is stated, or only what cannot be right. `history` must
// state sources.
TxnId stated_source(const History& history, OpId read);

// The last write by which the transaction wrote what the read returned.
OpId stated_write(const History& history, OpId read, TxnId source);

// Whether the write's transaction writes the key again.
bool is_overwritten(const History& history, OpId write);

// The read, if it is stated to be from an aborted or overwritten write; otherwise no anomaly.
BadRead stated_dirty_read(const History& history, OpId read);

// The read, if it is stated to be from another transaction than an earlier read of the key;
// otherwise no anomaly.
BadRead stated_other_read(const History& history, OpId read);

// The first contradiction of a transaction that did not abort, as a sentence; empty if there is
// none.
std::string contradicted_source(const History& history);

}  // namespace assay::internal
