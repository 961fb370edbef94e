// What a transaction shows to others: the versions it read from outside and the versions it left
// behind. Built on demand for the few transactions that an explanation talks about; only the writer of
// each version is indexed for the whole history.
#pragma once

#include <span>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

struct Access {
  KeyId key = kNone;
  VersionId version = kNone;
  OpId op = kNone;
};

class Accesses {
 public:
  explicit Accesses(const History& h);

  const History& history() const { return h_; }

  // Says that the history is a part of `whole`, and which operation each of its own was there. Both must stay.
  void taken_from(const History& whole, std::span<const OpId> origins) {
    whole_ = &whole;
    origins_ = origins;
  }
  // An operation as it stands in the file: in a part of a history, lists may have lost elements.
  struct InFile {
    const History& history;
    OpId op;
  };
  InFile in_file(OpId op) const { return whole_ ? InFile{*whole_, origins_[op]} : InFile{h_, op}; }

  // The transaction whose write of `v` can be seen by others: committed, or else of unknown
  // outcome. kNone for the initial value and for a value nobody wrote.
  TxnId writer(VersionId v) const { return writer_[v]; }
  // Whoever reads `v` reads from writer(v), or the initial value if there is none: no other transaction that may count
  // leaves it, and it is not null on a key that was deleted.
  bool certain(VersionId v) const { return !several_[v]; }
  // Who wrote `v`, whatever became of them: kNone if nobody did, kSeveral if more than one.
  static constexpr TxnId kSeveral = kNone - 1;
  TxnId anybody(VersionId v) const { return anybody_[v]; }
  // Whether anybody, whatever became of them, deleted the key or wrote null.
  bool was_made_absent(KeyId key) const { return made_absent_[key]; }
  // Those of `accesses` that are certain: what a story may rest on.
  std::vector<Access> certain(std::vector<Access> accesses) const;
  // First read of each key that no write of `t` itself precedes, in program order. A
  // compare-and-set that took effect reads what it expected.
  std::vector<Access> reads(TxnId t) const;
  // Every read from outside in program order, repeated reads of a key included.
  std::vector<Access> all_reads(TxnId t) const;
  // The last write of each key, in program order.
  std::vector<Access> writes(TxnId t) const;
  // The access to `key` in `accesses`; op is kNone if there is none.
  static Access find(const std::vector<Access>& accesses, KeyId key);

 private:
  const History& h_;
  const History* whole_ = nullptr;
  std::span<const OpId> origins_;
  std::vector<TxnId> writer_, anybody_;  // per version
  std::vector<bool> several_;            // per version
  std::vector<bool> made_absent_;        // per key
};

}  // namespace assay::internal
