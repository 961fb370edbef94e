// What transactions do, step by step: which keys they read, and which they change and so lock until
// they end.
//
//   s1: A { p(value > 5, [x=7]) w(x,8) }        read { x and every key that ever held more than 5
//                                               }, change { x }
//
// A step is a statement, or its two parts (certify/schedule.h). Reads of the transaction's own
// writes are omitted. A query by condition reads every key within its bounds some version of which
// satisfies the condition, or may satisfy it: in another order of the transactions another version
// may be there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "assay/history.h"
#include "certify/schedule.h"
#include "predict/gaps.h"

namespace assay::internal::predict {

using certify::RowLock;

struct Touch {
  KeyId key;
  bool reads;
  bool changes;
  bool inserts;  // whether there may be no row
  // Whether it happens in every order of the transactions, so it locks and may be refused. A
  // query's possible reads and unrecorded operations are not certain.
  bool is_certain = true;
  // The lock on a row that is read and not changed, if the row is there in every order.
  RowLock lock = RowLock::none;
  bool is_locked = false;  // by its statement, which may be uncertain
};

class Steps {
 public:
  // The steps of the transactions for which `is_taken` is set; the others have none. One with gaps
  // has an additional step at its beginning and at its end, for its unrecorded operations. Fails if
  // an operation's result in another order is unknown (lists), or if the budget runs out.
  static Result<Steps> of(const History& history, const std::vector<bool>& is_taken,
                          const Gaps& gaps, Budget& budget);

  uint32_t txn_count() const { return static_cast<uint32_t>(first_step_.size()) - 1; }
  uint32_t count(TxnId t) const { return first_step_[t + 1] - first_step_[t]; }
  // The touches of a step, each key once, ascending.
  std::span<const Touch> touches(TxnId t, uint32_t step) const {
    const uint32_t s = first_step_[t] + step;
    return {touches_.data() + first_touch_[s], touches_.data() + first_touch_[s + 1]};
  }
  // Whether the key represents unrecorded operations.
  bool is_of_gap(KeyId key) const { return key >= keys_; }
  bool has_gaps(TxnId t) const {
    return count(t) > 0 && !touches(t, 0).empty() && is_of_gap(touches(t, 0).front().key);
  }
  // Whether the transaction's first step has a row that another transaction certainly locks without
  // changing it.
  bool locks_first(TxnId t) const;
  // Whether the step's statement locks nothing.
  bool is_plain(TxnId t, uint32_t step) const { return is_plain_[first_step_[t] + step]; }
  // The keys of the whole transaction, ascending.
  std::span<const KeyId> reads(TxnId t) const { return span(reads_, first_read_, t); }
  std::span<const KeyId> changes(TxnId t) const { return span(changes_, first_change_, t); }
  std::span<const KeyId> certain_reads(TxnId t) const {
    return span(certain_reads_, first_certain_read_, t);
  }
  std::span<const KeyId> certain_changes(TxnId t) const {
    return span(certain_changes_, first_certain_change_, t);
  }
  // Certainly locked, like by changes or shared, and not changed.
  std::span<const KeyId> locked(TxnId t) const { return span(locked_, first_locked_, t); }
  std::span<const KeyId> shared(TxnId t) const { return span(shared_, first_shared_, t); }
  // Certainly read by statements that lock.
  std::span<const KeyId> locking_reads(TxnId t) const { return span(locking_, first_locking_, t); }

 private:
  friend class StepsOf;
  static std::span<const KeyId> span(const std::vector<KeyId>& keys,
                                     const std::vector<uint64_t>& first, TxnId t) {
    return {keys.data() + first[t], keys.data() + first[t + 1]};
  }

  KeyId keys_ = 0;               // number of keys of the history
  std::vector<bool> is_locked_;  // indexed by key: a transaction certainly locks it without
                                 // changing it
  std::vector<Touch> touches_;
  std::vector<uint64_t> first_touch_ = {0};  // indexed by step, and the end
  std::vector<bool> is_plain_;               // indexed by step
  std::vector<uint32_t> first_step_ = {0};   // indexed by transaction, and the end
  std::vector<KeyId> reads_, changes_, certain_reads_, certain_changes_, locking_, locked_, shared_;
  std::vector<uint64_t> first_read_ = {0}, first_change_ = {0}, first_certain_read_ = {0},
                        first_certain_change_ = {0}, first_locking_ = {0}, first_locked_ = {0},
                        first_shared_ = {0};  // indexed by transaction, and the end
};

}  // namespace assay::internal::predict
