// The stated sources of reads.
//
//   s1: A { w(x,1) }   s2: B { w(x,1) }   s3: C { r(x,A=1) }      A or B may have left 1; C is
//                                                                 stated to have read A's
//   s1: A { w(x,2) }   s3: C { r(x,A=1) }                         a contradiction: A did not write
//                                                                 1
//
// A statement is dropped if it contradicts the read: if its transaction did not write the value, or
// if the reader had written the key before and the statement names another transaction. The rest
// are facts, also where they condemn the database: a read of an aborted write, or of a write that
// its transaction overwrote.
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

// A read that is stated to be from an aborted or overwritten write; no anomaly if it is not.
BadRead stated_dirty_read(const History& history, OpId read);

// A read that is stated to be from another transaction than an earlier read of the key; no anomaly
// if it is not.
BadRead stated_other_read(const History& history, OpId read);

// The first contradiction of a transaction that did not abort, as a sentence; empty if there is
// none.
std::string contradicted_source(const History& history);

}  // namespace assay::internal
