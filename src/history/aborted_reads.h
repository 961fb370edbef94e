// A history in which transactions that did not commit count as readers.
//
// Opacity asks more than strict serializability: an aborted transaction must also have read from a
// state of the database, since a program acts on its reads before it learns whether it may commit.
// So each aborted transaction gets a companion, a committed transaction with its observations and
// no writes; then any level can be checked.
//
//   s1: { r(x,1) w(x,2) r(x,2) r(y,0) }!     aborted
//   s1: { r(x,1) r(y,0) } { r(x,1) w(x,2) r(x,2) r(y,0) }!
//
// The companion precedes its transaction in the same session and takes over its times. The
// companion of a transaction of unknown outcome has a separate session and any time after the
// begin: such a transaction read from a state in either case. Reads of own writes are checked at
// once and omitted; if one did not return the own write, the companion shows that on a new key
// ("x@3-17"). A range over keys that the transaction had written is split at these keys.
//
// Guerraoui and Kapałka, On the correctness of transactional memory (PPoPP 2008). Linear in the
// history, but for the keys that ranges cover.
#pragma once

#include <cstdint>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal {

struct CountedReads {
  History history;
  uint64_t companions = 0;  // of transactions that did not commit and had seen something
};

// Fails if companions would make the history too long.
Result<CountedReads> count_aborted_reads(const History& history);

}  // namespace assay::internal
