// Enumerates every way in which the transactions that took effect can have read from each other.
//
// Usually there is one: a value has one writer. Several result from a value written twice (or equal
// to the initial one) and from operations that say only what a key was not, such as a failed
// compare-and-set. Reading the list [1,2,3] means reading from the transaction that appended 3, and
// also gives the order in which the key was written: the writers of 1, 2 and 3 in this order, all
// other writers of the key after them.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "oracle/precedence.h"

namespace assay::internal::oracle {

inline constexpr int kInitial = -1;  // the virtual transaction that wrote the initial state

// One read and the transaction that it is assumed to read from.
struct ReadsFrom {
  int reader;
  uint32_t step;  // of the reader's program; reads with the same step happen together
  uint32_t key;
  int writer;  // or kInitial
};

struct Attribution {
  std::vector<ReadsFrom> reads;
  std::vector<std::pair<int, int>> write_order;  // transactions known to have written in this order
};

enum class Granularity {
  operation,    // two reads of a key in one transaction may read from different writers
  transaction,  // they may not
};

// Calls `accept` with each attribution until that returns true. Returns what the last call
// returned, or false if there is no attribution. `exhausted` is set if there were too many to try
// them all.
bool any_attribution(const Footprints& small, TxnSet effective, Granularity granularity,
                     const std::function<bool(const Attribution&)>& accept, bool* exhausted);

}  // namespace assay::internal::oracle
