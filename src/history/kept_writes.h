// The writes of a history that keeps only some of its operations: how many writes a version or a
// key has, and how many stay.
#pragma once

#include <cstdint>
#include <vector>

#include "history/accesses.h"

namespace assay::internal {

struct WriteTally {
  uint32_t all = 0;
  uint32_t kept = 0;

  void add(bool keep) {
    ++all;
    if (keep) ++kept;
  }
  bool stay() const { return all == kept; }
  bool go() const { return all > 0 && kept == 0; }
  WriteTally operator+(const WriteTally& more) const { return {all + more.all, kept + more.kept}; }
  WriteTally operator-(const WriteTally& less) const { return {all - less.all, kept - less.kept}; }
};

// Refers to the history and to the caller's `keep`. Built in time linear in the operations; a query
// about one transaction takes time linear in its operations.
class KeptWrites {
 public:
  KeptWrites(const History& history, const std::vector<bool>& keep)
      : h_(history),
        keep_(keep),
        of_version_(h_.version_count()),
        of_key_(h_.key_count()),
        removes_(h_.key_count()),
        null_of_key_(h_.key_count()),
        never_written_(h_.key_count()) {
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) count(t, i);
    for (VersionId v = 0; v < h_.version_count(); ++v) {
      const KeyId key = h_.version_key(v);
      if (is_null(v))
        null_of_key_[key] = of_version_[v];
      else if (of_version_[v].all == 0)
        never_written_[key] = true;
    }
  }

  const WriteTally& of_version(VersionId v) const { return of_version_[v]; }
  const WriteTally& of(KeyId key) const { return of_key_[key]; }
  const WriteTally& removing(KeyId key) const { return removes_[key]; }
  // The writes after which the key is absent.
  WriteTally absence(KeyId key) const { return removes_[key] + null_of_key_[key]; }
  // The writes after which a read returns this version.
  WriteTally showing(VersionId v) const {
    return is_null(v) ? absence(h_.version_key(v)) : of_version_[v];
  }
  // Whether the history has a value of the key that no transaction wrote.
  bool is_never_written(KeyId key) const { return never_written_[key]; }
  // The transaction that appended the element; kNone if none did.
  TxnId author(VersionId v) const { return author_.empty() ? kNone : author_[v]; }

  // The last write of the key before an operation of the transaction; kNone if there is none.
  OpId before(TxnId t, OpId i, KeyId key) const {
    while (i-- > h_.first_op(t))
      if (writes(i, key)) return i;
    return kNone;
  }
  // Whether no write of the key by another transaction stays.
  bool untouched_by_others(TxnId t, KeyId key) const {
    if (of_key_[key].kept == 0) return true;
    uint32_t own = 0;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) own += keep_[i] && writes(i, key);
    return of_key_[key].kept == own;
  }
  // Whether some write of the key by the transaction itself is left out.
  bool loses_one(TxnId t, KeyId key) const {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (!keep_[i] && writes(i, key)) return true;
    return false;
  }

 private:
  bool is_null(VersionId v) const { return h_.version_value(v).is_null(); }
  bool writes(OpId i, KeyId key) const { return installs_version(h_.op(i)) && h_.op(i).key == key; }

  void count(TxnId t, OpId i) {
    if (!installs_version(h_.op(i))) return;
    const Install install = install_of(h_, i);
    of_version_[install.version].add(keep_[i]);
    if (install.appends) {
      author_.resize(h_.version_count(), kNone);
      author_[install.version] = t;
    }
    of_key_[install.key].add(keep_[i]);
    // Tombstones leave the key absent; a null that was written is counted by its version.
    if (install.removes && !is_null(install.version)) removes_[install.key].add(keep_[i]);
  }

  const History& h_;
  const std::vector<bool>& keep_;
  std::vector<WriteTally> of_version_;
  std::vector<WriteTally> of_key_;
  std::vector<TxnId> author_;            // indexed by version; empty if there are no lists
  std::vector<WriteTally> removes_;      // per key: tombstones
  std::vector<WriteTally> null_of_key_;  // per key: writes of null
  std::vector<bool> never_written_;
};

}  // namespace assay::internal
