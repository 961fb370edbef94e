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

  // This history is session-serializable iff the whole gives statement snapshots.
  const History& split() const { return split_; }

  // An order of the split history as one of the whole.
  Order in_whole(const Order& order) const;
  BadRead in_whole(const BadRead& bad) const;
  // A proof about the split history as one about the whole. nullopt if it cannot be expressed
  // there: it is about what several operations of a statement saw, or what lists are made of.
  std::optional<Proof> in_whole(const Proof& proof) const;

 private:
  friend class StatementSplitter;
  friend class StatementProof;

  // A transaction of `split`.
  struct Part {
    TxnId txn;
    uint32_t statements;  // how many statements of its transaction have run when the part has
    bool commits;         // whether the transaction commits after it
    bool writes;          // whether it is the commit, with all operations on keys that are locked
                          // before it
  };

  explicit StatementHistory(const History& whole) : whole_(whole) {}
  uint32_t count_statements(TxnId t) const;
  // The operation of the whole; kNone if there is none.
  OpId whole_op(OpId op) const { return op == kNone ? kNone : op_[op]; }

  const History& whole_;
  History split_;
  std::string prefix_;       // the prefix of keys that the whole lacks
  std::vector<Part> parts_;  // indexed by transaction
  std::vector<OpId> op_;     // indexed by operation: the one that it was, kNone if none
};

}  // namespace assay::internal
