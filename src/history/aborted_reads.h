// A history in which transactions that did not commit count as readers.
//
// Opacity asks more than strict serializability: what an aborted transaction saw must have been a
// state of the database too, for a program acts on what it reads before it learns whether it may
// commit. So each such transaction gets a companion, a committed transaction that saw what it saw
// and writes nothing; then any level can be asked.
//
//   s1: { r(x,1) w(x,2) r(x,2) r(y,0) }!     aborted
//   s1: { r(x,1) r(y,0) } { r(x,1) w(x,2) r(x,2) r(y,0) }!
//
// The companion stands before its transaction, in the same session, and takes over its times. That
// of a transaction of unknown outcome has a session of its own and may have happened at any time
// after its begin: whatever became of the transaction, it saw a state. What a transaction saw of
// its own writes is checked on the spot and left out; if it is not what it wrote, the companion
// shows that on a key of its own ("x@3-17"). A range over keys that the transaction had written is
// cut at them.
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
  uint64_t companions = 0;  // transactions that did not commit and had seen something
};

// Fails where the history is too long to have companions.
Result<CountedReads> count_aborted_reads(const History& history);

}  // namespace assay::internal
