// What the history states of a read: whose write it returned.
//
//   s1: A { w(x,1) }   s2: B { w(x,1) }   s3: C { r(x,A=1) r(x,B=2) w(x,3) r(x,A=3) }
//   The first read is from A. The second is not from B, which wrote no 2, and the third is C's own: two contradictions.
//
// A statement is right or says nothing. It can be right only of the transaction itself if that had written the key; else
// only of the initial state, if the read returned that, or of another transaction, if some write of that put what was
// read.
#pragma once

#include <string>

#include "assay/history.h"

namespace assay::internal::certify {

// Of a read whose transaction had not written the key: the other transaction, or kInitialTxn. kNone if nothing is stated, or
// it contradicts what was read.
TxnId stated_to_be_from(const History& history, OpId read);

// The transaction may have taken effect, and the last that it wrote to the key is what the read returned.
bool left_behind(const History& history, TxnId writer, OpId read);

// Empty if no read of a transaction that may have taken effect contradicts what is stated of it.
std::string source_contradiction(const History& history);

}  // namespace assay::internal::certify
