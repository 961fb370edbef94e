// A schedule: transactions of a recorded history, step by step, in an order in which they did not
// run, each at an isolation that allows it, and not serializable. It is the certificate of a
// prediction (docs/predicting.md): what happened at one isolation is recorded, and this is what the
// same transactions may do at another.
//
//   s1: A { r(x,0) w(x,1) }   s2: B { r(x,1) w(x,2) }     one after the other
//   read-committed: A reads, B reads, writes and commits, A writes and commits: B's write is lost
//
// A step is a statement, or one of its two parts: its reads of rows that it does not lock precede
// the rest, since a statement that waits for a lock goes on with the new row and its earlier reads.
// Statements are identified by the times at which operations were sent: neighbours that were sent
// at the same moment are one statement. Without such times each operation is a statement. A
// statement locks the rows that it changes, and the rows that it reads if the meta of its
// transaction says so (FOR UPDATE, FOR SHARE).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/history.h"

namespace assay::internal::certify {

// A read returns the version committed last before a moment, which depends on the isolation as
// given here. At each isolation a row that a transaction changes is locked until the transaction
// ends.
enum class Isolation : uint8_t {
  read_committed,          // the step (PostgreSQL, Oracle, SQL Server with RCSI)
  innodb_repeatable_read,  // the first step that locks nothing; for what a locking statement reads:
                           // its step, with a shared lock
  prefix,                  // the first step; a read locks nothing
  // the first step; no other transaction may have changed, since then, a row that it changes
  snapshot,
  ssi  // as snapshot, and no dangerous structure among the transactions at this isolation
       // (PostgreSQL's SERIALIZABLE)
};
inline constexpr size_t kIsolationCount = 5;
std::string_view isolation_name(Isolation isolation);  // "read-committed", …
std::optional<Isolation> find_isolation(std::string_view name);

// The lock on a row that is read: none, one that others may share, or one like that of a change.
enum class RowLock : uint8_t { none, share, update };
// The locks that the statements of a transaction take on the rows they read, by the moment at which
// the statements were sent; statements without such locks are omitted.
std::map<int64_t, RowLock> row_locks_of(std::string_view meta);

// A part of a transaction: its operations from `first` up to `end`, those of one statement.
// unlocked: only its reads of rows that it does not lock; locked: everything else.
struct Step {
  enum class Part : uint8_t { whole, unlocked, locked };
  OpId first = kNone, end = kNone;
  Part part = Part::whole;
  RowLock lock = RowLock::none;  // on what the statement reads
};

struct Schedule {
  struct Member {
    TxnId txn = kNone;
    Isolation isolation = Isolation::read_committed;
  };
  // step: the member's next step. commit: it commits after its last step. begin: it takes its
  // snapshot before its first step has its locks; at snapshot and ssi only.
  enum class What : uint8_t { step, commit, begin };
  struct Event {
    What what = What::step;
    uint32_t member = 0;
  };
  std::vector<Member> members;
  std::vector<Event> events;
  // Members, each of which comes before the next in every serial order that explains the schedule;
  // the last comes before the first.
  std::vector<uint32_t> cycle;
};

}  // namespace assay::internal::certify
