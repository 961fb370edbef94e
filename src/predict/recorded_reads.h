// Recorded transactions as what they read from each other and which keys they write, for the search
// for other sources of their reads (predict/boundary_search.h).
#pragma once

#include <cstdint>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::predict {

// Those that committed, numbered in the order of the history.
struct RecordedReads {
  struct Read {
    OpId op = kNone;
    KeyId key = kNone;
    uint32_t source = kNone;  // a number; kNone: the initial state
    uint32_t place = 0;       // of the operation in its transaction
  };
  struct Write {
    KeyId key = kNone;
    uint32_t place = 0;  // of the first of them
  };
  struct Txn {
    TxnId id = kNone;
    SessionId session = 0;
    uint32_t before = kNone;    // in its session
    uint32_t operations = 0;    // of all kinds
    std::vector<Read> reads;    // of keys that it has not written
    std::vector<Write> writes;  // of each key once
  };
  std::vector<Txn> txns;
  std::vector<std::vector<uint32_t>> writers;  // per key, numbers

  static Result<RecordedReads> of(const History& history);
};

}  // namespace assay::internal::predict
