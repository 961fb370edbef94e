// Origins: the writer of each version, as far as one look-up shows, and the use of each key.
//
//   s1: { w(x,1) w(x,2) }   s2: { w(y,1) }!    x=1: intermediate; x=2: a final write; y=1: aborted
//
// Of several writes of a version the origin is the one that explains a read best: a final write is
// preferred to an intermediate one, and that to an aborted one.
//
// Adjacent transactions are walked in slices, side by side. The first transaction that reaches a
// version notes its write; versions for which a second write turns up, in whatever order, are noted
// again, one write after the other. Cost: one pass over the operations, one array access a write; a
// second one if a version was written twice.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/history.h"

namespace assay::internal {

struct Install;

struct Origin {
  enum class Kind : uint8_t { nobody, final_write, intermediate, aborted };
  OpId op = kNone;  // the write that explains a read best
  Kind kind = Kind::nobody;
  bool ambiguous = false;  // more than one transaction could have installed it
  bool several = false;    // more than one transaction wrote it, finally or not
  bool unknown = false;    // the outcome of the writing transaction is unknown
};

class Origins {
 public:
  // The result must not be used if the budget ran out.
  Origins(const History& history, unsigned threads, Budget& budget);

  const Origin& operator[](VersionId version) const { return of_version_[version]; }
  // Versions lie far apart: their cache misses are overlapped.
  void prefetch(VersionId version) const { __builtin_prefetch(&of_version_[version]); }

  bool any_lists() const { return !uses_.empty(); }
  // Whether transactions that did not abort use the key both as a list and as a register, which has
  // no meaning here.
  bool mixed(KeyId key) const { return any_lists() && uses_[key] == (kAsList | kAsRegister); }
  KeyId first_mixed() const { return first_mixed_; }  // kNone if there is none
  bool deleted_somewhere(KeyId key) const { return !tombstoned_.empty() && tombstoned_[key] != 0; }
  // Whether a read of the version could have more than one source, or has none that is a plain
  // write.
  bool is_ambiguous(KeyId key, VersionId version) const;

  // Versions that several transactions wrote, in the order of the later writes; `read` is not set.
  const std::vector<DuplicateWrite>& duplicates() const { return duplicates_; }

 private:
  static constexpr uint8_t kAsList = 1;
  static constexpr uint8_t kAsRegister = 2;

  void note_uses();
  void note_first_writes(unsigned threads, Budget& budget);
  bool claim(const Install& install);
  void note_first(TxnId t, const Install& install, std::vector<DuplicateWrite>& duplicates);
  void note_again(const std::vector<VersionId>& versions);
  void note_other(TxnId t, const Install& install);
  Origin::Kind kind_of(TxnId t, const Install& install) const;

  const History& h_;
  std::vector<Origin> of_version_;
  std::vector<uint8_t> uses_;  // indexed by key; empty: there are no lists in the history
  KeyId first_mixed_ = kNone;
  std::vector<uint8_t> tombstoned_;  // indexed by key: some transaction deletes it; empty: there
                                     // are no deletes
  std::vector<DuplicateWrite> duplicates_;
};

}  // namespace assay::internal
