// A history whose transactions are the statements and the commits of another. See
// statement_history.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"

namespace assay::internal {

class StatementHistory {
 public:
  // `whole` must outlive it.
  static Result<StatementHistory> of(const History& whole);

  // It is session-serializable iff the other one gives statement snapshots.
  const History& split() const { return split_; }

  // What shows the one, as what shows the other.
  Order in_whole(const Order& order) const;
  BadRead in_whole(const BadRead& bad) const;
  // Nothing if it cannot be said of the other one: it is about what several operations of a
  // statement saw, or what lists are made of.
  std::optional<Proof> in_whole(const Proof& proof) const;

 private:
  friend class StatementSplitter;
  friend class StatementProof;

  // A transaction of `split`.
  struct Part {
    TxnId txn;
    uint32_t statements;  // of its transaction, that have run when it has
    bool commits;         // after it
    bool writes;          // it is the commit, with all operations on keys that are locked before it
  };

  explicit StatementHistory(const History& whole) : whole_(whole) {}
  uint32_t count_statements(TxnId t) const;
  // kNone if there is none.
  OpId whole_op(OpId op) const { return op == kNone ? kNone : op_[op]; }

  const History& whole_;
  History split_;
  std::string prefix_;       // of keys that the other history lacks
  std::vector<Part> parts_;  // per transaction
  std::vector<OpId> op_;     // per operation: the one it was, kNone if none
};

}  // namespace assay::internal
