// Orders for transactions of different levels: does this order show that each meets the level it
// declares?
//
// The order has two events per transaction, r and w. The levels of a transaction determine their
// places and its sources:
//
//   serializable          w follows r at once; its reads return what their keys hold at r
//   prefix                its reads return what their keys hold at r
//   snapshot isolation    as prefix, and between r and w no other transaction installs a version of
//                         a key that it writes
//   read committed, read atomic, causal
//                         w follows r at once; the order of the w is a commit order that serves it
//                         as a reader (weak_order_verifier.h), whatever it does to other readers
//
//   A serializable { r(x,0) w(y,1) }   B read-committed { r(y,0) w(x,1) }    r(A) w(A) r(B) w(B):
//                                      B's y is older than A
//
// The transactions that a transaction saw are the same for itself and for the transactions that saw
// it. O(operations), plus the cost of the weak levels.
#pragma once

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/result.h"
#include "certify/writes.h"

namespace assay::internal::certify {

// `order` must hold every committed transaction, none twice, no aborted one, r before w, and follow
// the sessions.
Status mixed_order_serves(const Writes& writes, const Order& order);

}  // namespace assay::internal::certify
