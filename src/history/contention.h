// How contended a history was: which transactions met on a key while they overlapped in time.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

// The accesses to one key by a transaction that did not abort, and how many other transactions
// access the key. A range reads the key kNone, which means all keys: each transaction that writes
// anything also writes kNone.
struct KeyAccess {
  TxnId txn = kNone;
  KeyId key = kNone;
  bool reads = false;    // reads what others may have written
  bool rereads = false;  // more than once
  bool writes = false;
  bool rewrites = false;  // more than once
  // How many other transactions read and write the key.
  uint32_t readers = 0, writers = 0;
  // How many of these are of other sessions and overlap the transaction in time.
  uint32_t overlapping_readers = 0, overlapping_writers = 0;

  bool is_of_all_keys() const { return key == kNone; }
};

struct Contention {
  std::vector<KeyAccess> accesses;  // ordered by transaction
  // Conflicts: a key and two transactions of different sessions that overlap in time, counted if
  // both wrote the key; if one read the other's write; if one read the key and not the other's
  // write. Two transactions that both read and write a key have several.
  uint64_t write_write = 0, write_read = 0, read_write = 0;
  uint64_t transactions = 0;  // transactions that have a conflict
  uint64_t looked_at = 0;     // number of transactions examined, including aborted ones
  bool timed = true;          // whether the times of all of them are known

  uint64_t conflicts() const { return write_write + write_read + read_write; }
};

// Counts conflicts. A transaction without times overlaps every transaction of other sessions.
// O(operations · log operations) in time; 40 bytes per access. `most_txns`: in a longer history
// only about this many transactions are examined, those that began first; without times, the first
// of each session.
Contention find_contention(const History& history, uint64_t most_txns = UINT64_MAX);
// An upper bound on the bytes that find_contention takes.
uint64_t contention_bytes(const History& history);

}  // namespace assay::internal
