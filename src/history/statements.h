// The statements of a transaction: operations that are neighbours and were sent at the same moment
// are one statement. Without such times each operation is a statement.
#pragma once

#include "assay/history.h"

namespace assay::internal {

// The end of the transaction's statement that begins with operation `first`.
inline OpId end_of_statement(const History& h, TxnId t, OpId first) {
  const Interval sent = h.op_time(first);
  OpId end = first + 1;
  while (sent.known() && end < h.end_op(t) && h.op_time(end).request == sent.request) ++end;
  return end;
}

// The first operation of the statement that contains the operation.
inline OpId statement_of(const History& h, OpId op) {
  const TxnId t = h.txn_of(op);
  OpId first = h.first_op(t);
  for (OpId end = end_of_statement(h, t, first); end <= op; end = end_of_statement(h, t, first))
    first = end;
  return first;
}

}  // namespace assay::internal
