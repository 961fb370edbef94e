// Enumerates every history within given bounds, one of each set that differ only in names.
//
// In 2 sessions of 1 transaction of 1 operation on 1 key there are six: { w }, { r initial }, { w }
// | { w }, { w } | { r initial }, { w } | { r the other's }, { r initial } | { r initial }.
//
// Transactions are committed and values unique. A read after an own write returns that write; any
// other read returns the initial value or the last write of another transaction: everything else
// violates every level.
//
// The number grows by about a factor of ten with each operation: a million histories of up to 7
// operations in up to 4 sessions of 2 transactions over 2 keys.
#pragma once

#include <functional>

#include "oracle/draft.h"

namespace assay::internal::oracle {

struct Bounds {
  int sessions = 2;
  int txns = 2;  // per session
  int ops = 2;   // per transaction
  int keys = 2;
  int total_ops = 8;
  int total_txns = 64;
  bool ordered = false;      // with every order of the writers of each key, stated
  bool timed = false;        // with every order of all begins and ends
  bool equal_times = false;  // if timed: any of them may also be simultaneous
};

// Visits histories in the order of their number of operations, then of transactions, until `visit`
// returns false. Returns how many it visited.
uint64_t enumerate(const Bounds& bounds, const std::function<bool(const Draft&)>& visit);

}  // namespace assay::internal::oracle
