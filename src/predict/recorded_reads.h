// What recorded transactions read from each other and which keys they write, for the search for
// other sources of their reads (predict/boundary_search.h).
#pragma once

#include <cstdint>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::predict {

// The transactions that committed, numbered in the order of the history.
struct RecordedReads {
  struct Read {
    OpId op = kNone;
    KeyId key = kNone;
    uint32_t source = kNone;  // number of a transaction; kNone: the initial state
    uint32_t place = 0;       // place of the operation in its transaction
  };
  struct Write {
    KeyId key = kNone;
    uint32_t place = 0;  // place of the first write of the key
  };
  struct Txn {
    TxnId id = kNone;
    SessionId session = 0;
    uint32_t before = kNone;    // the previous one of its session
    uint32_t operations = 0;    // number of operations of all kinds
    std::vector<Read> reads;    // reads of keys that it has not written
    std::vector<Write> writes;  // each key once
  };
  std::vector<Txn> txns;
  std::vector<std::vector<uint32_t>> writers;  // indexed by key: numbers of transactions

  static Result<RecordedReads> of(const History& history);
};

}  // namespace assay::internal::predict
