// A history cut down to what most formats of the field can hold: sessions of transactions that
// read and write integers. Everything that has no place is counted as a loss.
//
//   names          if a key is not an integer in the format's range, all keys are numbered;
//                  the same for values
//   initial        becomes the value 0
//   cas, insert    that took effect are a read and a write; those that did not are left out
//   delete         is a write of its tombstone
//   lists, ranges  are left out
//   unknown        what a committed transaction read from (transitively) is written as the only
//                  transaction of a session of its own; what was not read is left out. Neither
//                  changes a verdict that does not count session order or time.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/history.h"
#include "formats/registry.h"
#include "history/value_numbers.h"

namespace assay::internal::formats {

struct RegisterOp {
  bool write = false;
  int64_t key = 0;
  int64_t value = 0;
  bool list = false;              // an append, or a read of a whole list
  std::vector<int64_t> elements;  // elements of that list
};

class Registers {
 public:
  // What the format can hold.
  struct Holds {
    bool aborted = false;
    bool negative = false;      // negative integers
    bool initial_zero = true;   // value 0 represents the initial one, so no other value may be 0
    bool any_key = false;       // keys of any type: RegisterOp::key is the KeyId
    bool session_names = true;  // numbers of sessions, possibly with gaps
    bool times = false;         // begin and end
    bool timestamps = false;    // start_ts and commit_ts
    bool lists = false;         // appends and reads of lists
    bool registers = true;      // anything else; if false, a read of null is a read of an empty
                                // list
  };

  Registers(const History& history, Holds holds, Losses& losses);

  struct Session {
    int64_t name = 0;  // not negative; the session's own name if every session has such a name
    std::vector<TxnId> txns;
  };
  // The sessions to write, in session order.
  const std::vector<Session>& sessions() const { return sessions_; }
  // The operations of a transaction. Valid until the next call.
  const std::vector<RegisterOp>& ops(TxnId t);
  // Whether the transaction committed or may have committed.
  bool committed(TxnId t) const { return history_.status(t) != TxnStatus::aborted; }

 private:
  void choose_txns(Losses& losses);
  void name_sessions(Losses& losses);
  std::vector<bool> read_unknowns() const;
  void number(Losses& losses);
  void count_losses(Losses& losses) const;
  bool fits(const ValueView& v) const;
  bool has_place(const Operation& op) const;
  bool is_of_list(const Operation& op) const;
  int64_t value_number(VersionId v);

  const History& history_;
  Holds holds_;
  std::vector<Session> sessions_;
  bool renumber_keys_ = false;
  bool renumber_values_ = false;
  ValueNumbers numbers_;
  std::vector<RegisterOp> ops_;
};

}  // namespace assay::internal::formats
