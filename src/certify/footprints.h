// What the transactions of a history do, step by step, in whatever order they run: the verifier's
// own reading, for predictions.
//
// A step is that of a schedule (certify/schedule.h). A key is read unless the transaction has
// changed it before. A query reads the keys within its bounds that ever held, or may have held, a
// row that it selects. Unrecorded operations of a transaction (its meta names their tables) are an
// additional step at its beginning and at its end, which conflicts with every transaction that
// touches such a table.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::certify {

// What a step does with a key. A certain deed happens in every order: it locks, and may be refused.
// Neither a query, which may find another version, nor an unrecorded operation is ever certain.
enum Deed : uint8_t {
  kReads = 1,
  kChanges = 2,
  kCertainlyReads = 4,
  kCertainlyChanges = 8,
  kSharesAtInnodb =
      16,        // certainly reads, in a statement that locks something: InnoDB's shared lock
  kShares = 32,  // certainly locks the key that it reads, shared
  kLocks = 64    // or with the lock of a change
};
struct Touch {
  KeyId key = kNone;  // a key after those of the history represents unrecorded operations
  uint8_t deeds = 0;
};

class Footprints {
 public:
  // Fails if an operation's result in another order is unknown (lists), or if queries read too
  // much.
  static Result<Footprints> of(const History& history);

  // The numbers of the programs, by name.
  const std::map<std::string, uint32_t>& programs() const { return programs_; }
  // The program of a transaction. kNone: it has none, but it counts beside others because of
  // unrecorded operations.
  uint32_t program(TxnId t) const { return program_[t]; }
  // The transactions of a program, whatever their outcomes.
  std::span<const TxnId> txns_of(uint32_t program) const { return txns_of_[program]; }

  size_t key_count() const { return first_of_key_.size() - 1; }
  uint32_t step_count(TxnId t) const { return first_step_[t + 1] - first_step_[t]; }
  std::span<const Touch> step(TxnId t, uint32_t s) const {
    const uint32_t at = first_step_[t] + s;
    return {touches_.data() + first_touch_[at], touches_.data() + first_touch_[at + 1]};
  }
  // Whether the statement of the step locks nothing.
  bool is_plain(TxnId t, uint32_t s) const { return is_plain_[first_step_[t] + s]; }
  // The touches of all steps, ascending, each key once.
  std::span<const Touch> touches(TxnId t) const {
    return {all_.data() + first_of_txn_[t], all_.data() + first_of_txn_[t + 1]};
  }
  bool has_unrecorded(TxnId t) const { return has_unrecorded_[t]; }
  // Whether some transaction certainly locks the key and only reads it.
  bool is_locked(KeyId key) const { return is_locked_[key]; }

  // A transaction that uses a key; they are sorted.
  struct Doer {
    TxnId txn;
    uint8_t deeds;
  };
  std::span<const Doer> doers(KeyId key) const {
    return {doers_.data() + first_of_key_[key], doers_.data() + first_of_key_[key + 1]};
  }

 private:
  friend class FootprintReader;

  std::map<std::string, uint32_t> programs_;
  std::vector<std::vector<TxnId>> txns_of_;  // indexed by program
  std::vector<uint32_t> program_;            // indexed by transaction
  std::vector<bool> has_unrecorded_;         // indexed by transaction
  std::vector<uint32_t> first_step_ = {0};   // indexed by transaction, and the end
  std::vector<bool> is_plain_;               // indexed by step
  std::vector<uint64_t> first_touch_ = {0};  // indexed by step, and the end
  std::vector<Touch> touches_;
  std::vector<uint64_t> first_of_txn_ = {0};  // indexed by transaction, and the end
  std::vector<Touch> all_;
  std::vector<uint64_t> first_of_key_;  // indexed by key, and the end
  std::vector<Doer> doers_;
  std::vector<bool> is_locked_;  // indexed by key
};

}  // namespace assay::internal::certify
