// The operations on one key, as a search for their order needs them: requests and responses as a
// list in the order of time, and for each operation the state of the key that it expects and the
// one that it leaves.
//
//   w(x,1) [0,9]   cas(x,1,2) [2,5]   r(x,2) [6,8]      list: w( cas( )cas r( )r )w
//
// States are numbered from 0, the initial one; if a read is stated to be from a transaction, the
// state that this transaction left gets a separate number; all values that are never read or
// compared with are one state, since no operation distinguishes them. Operations that leave the
// same state, and for a compare-and-set expect the same, are *twins*: they are interchangeable
// except for their responses. An operation that takes effect is taken out of the list with its
// response, so the first response in the list is always the next one due.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/history.h"
#include "base/hash.h"
#include "history/accesses.h"
#include "levels/operation_times.h"
#include "levels/situation_set.h"

namespace assay::internal {

class KeyOperations {
 public:
  struct Op {
    TxnId txn;
    bool certain;
    Observation seen;
    TxnId stated = kNone;    // a read: the transaction that it is stated to be from, or kInitialTxn
    uint32_t state = kNone;  // the state that it leaves; kNone: it changes nothing
    uint32_t twins = kNone;  // equal for operations with the same effect; kNone: it changes nothing
    uint32_t call = kNone, reply = kNone;  // indices of its entries in the list
  };

  KeyOperations(const History& history, const OperationTimes& times, std::span<const TxnId> certain,
                std::span<const TxnId> possible);

  // The key of the operations; there must be an operation.
  KeyId key() const { return history_.op(ops_.front().seen.op).key; }
  size_t size() const { return ops_.size(); }
  const Op& op(uint32_t i) const { return ops_[i]; }
  size_t states() const { return contents_.size(); }
  size_t twins() const { return twins_; }
  // The number of certain operations, and of the ones that have not taken effect.
  size_t certain() const { return certain_; }
  size_t left() const { return left_; }

  // Calls take(operation) for each operation that is under way, that is, requested before any
  // response still to come, until `take` returns false. Returns the operation that has to respond
  // next if the walk got that far; kNone if there is none.
  template <class Take>
  uint32_t each_open(Take take) const {
    uint32_t e = next_[kHead];
    for (; e != kNone && !is_reply_[e]; e = next_[e])
      if (!take(entry_op_[e])) return kNone;
    return e == kNone ? kNone : entry_op_[e];
  }
  // Whether the operation's result is the one it would have in this state.
  bool fits(const Op& op, uint32_t state) const;
  // The state that a read, or a compare-and-set that took effect, needs a write to leave; kNone:
  // the state does not exist, or the operation is neither.
  uint32_t wanted_by(const Op& op) const;
  // Of the twins `a` and `b`, whether `a` has to take effect first.
  static bool goes_first(const Op& a, const Op& b) {
    return a.reply != b.reply ? a.reply < b.reply : a.call < b.call;  // kNone, for no response, is
                                                                      // the greatest
  }
  // "the first 5 of 9 responses on key x can be explained, but not yet that of transaction t"
  std::string progress(uint32_t stuck_at) const;

  // Takes an operation out of the list, or puts it back; the last one taken out must go back first.
  void take(uint32_t op);
  void take_back(uint32_t op);
  // The hash of what has taken effect.
  Situation taken() const { return taken_hash_; }

 private:
  static constexpr uint32_t kHead = 0;  // the entry before the first one
  void collect(std::span<const TxnId> certain, std::span<const TxnId> possible);
  void add(TxnId t, bool certain);
  uint32_t state_of(TxnId writer, const KeyState& left,
                    std::unordered_map<uint64_t, uint32_t>& states);
  void enter_times();
  void unlink(uint32_t e);
  void link(uint32_t e);
  void toggle(uint32_t op);

  const History& history_;
  const OperationTimes& times_;
  std::vector<Op> ops_;
  std::vector<KeyState> contents_;  // indexed by state
  std::unordered_map<TxnId, uint32_t>
      state_of_writer_;  // for transactions that a read is stated to be from
  std::unordered_set<VersionId> looked_for_;
  std::unordered_map<VersionId, uint32_t> state_of_version_;  // for states left by writes of the
                                                              // version
  size_t twins_ = 0;
  std::vector<uint32_t> entry_op_, next_, previous_;  // indexed by entry, the first being the head
  std::vector<uint8_t> is_reply_;
  size_t certain_ = 0, left_ = 0;
  Situation taken_hash_;
};

}  // namespace assay::internal
