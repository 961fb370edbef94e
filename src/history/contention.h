// How contended a history was: which transactions met on a key while they overlapped in time.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

// The accesses of a transaction that did not abort to one key, and how many other transactions
// access it. A range reads the key kNone, which stands for all keys: each transaction that writes
// anything writes kNone, too.
struct KeyAccess {
  TxnId txn = kNone;
  KeyId key = kNone;
  bool reads = false;    // what others may have written
  bool rereads = false;  // more than once
  bool writes = false;
  bool rewrites = false;  // more than once
  // Other transactions.
  uint32_t readers = 0, writers = 0;
  // Of these, those of other sessions that overlap it in time.
  uint32_t overlapping_readers = 0, overlapping_writers = 0;

  bool is_of_all_keys() const { return key == kNone; }
};

struct Contention {
  std::vector<KeyAccess> accesses;  // by transaction
  // Conflicts: a key, and two transactions of different sessions that overlap in time and both
  // wrote it; of which one read the other's write; of which one read the key and not the other's
  // write. Two that read and write a key have several.
  uint64_t write_write = 0, write_read = 0, read_write = 0;
  uint64_t transactions = 0;  // that have a conflict
  uint64_t looked_at = 0;     // transactions, including aborted ones
  bool timed = true;          // the times of all of them are known

  uint64_t conflicts() const { return write_write + write_read + read_write; }
};

// A transaction without times overlaps every transaction of other sessions. O(operations · log
// operations) in time; 40 bytes for an access. `most_txns`: a longer history is sampled, about this
// many transactions that began first; without times, the first of each session.
Contention find_contention(const History& history, uint64_t most_txns = UINT64_MAX);
// An upper bound on the bytes that this takes.
uint64_t contention_bytes(const History& history);

}  // namespace assay::internal
