// The statements of a transaction: operations that are neighbours and were sent at the same moment
// are one statement. Without such times each operation is one.
#pragma once

#include "assay/history.h"

namespace assay::internal {

// The end of the statement that begins with operation `first` of the transaction.
inline OpId end_of_statement(const History& h, TxnId t, OpId first) {
  const Interval sent = h.op_time(first);
  OpId end = first + 1;
  while (sent.known() && end < h.end_op(t) && h.op_time(end).request == sent.request) ++end;
  return end;
}

}  // namespace assay::internal
