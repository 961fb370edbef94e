#include "infer/origins.h"

#include <atomic>
#include <utility>

#include "base/sort_by.h"
#include "history/accesses.h"
#include "infer/slices.h"

namespace assay::internal {

Origins::Origins(const History& history, unsigned threads, Budget& budget)
    : h_(history), of_version_(history.version_count()) {
  note_uses();
  note_first_writes(threads, budget);
}

void Origins::note_uses() {
  OpId first = 0;
  while (first < h_.op_count() && !is_list_operation(h_.op(first))) ++first;
  if (first == h_.op_count()) return;
  uses_.assign(h_.key_count(), 0);
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(t) == TxnStatus::aborted) continue;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      if (is_range(op)) continue;
      uses_[op.key] |= is_list_operation(op) ? kAsList : kAsRegister;
      if (first_mixed_ == kNone && mixed(op.key)) first_mixed_ = op.key;
    }
  }
}

void Origins::note_first_writes(unsigned threads, Budget& budget) {
  struct Found {
    std::vector<DuplicateWrite> duplicates;  // about the initial value
    std::vector<VersionId> several;
    std::vector<KeyId> removed;
  };
  std::vector<Found> found(slice_count(threads));
  in_slices(threads, h_.txn_count(), budget, [&] {
    return [&, written = WrittenKeys()](size_t slice, TxnId t) mutable {
      constexpr OpId kAhead = 16;  // operations
      for (OpId i = h_.first_op(t); i < h_.end_op(t) && i + kAhead < h_.op_count(); ++i)
        if (const VersionId version = h_.op(i + kAhead).version; version != kNone)
          prefetch(version);
      each_install(h_, t, written, [&](const Install& install) {
        if (install.removes) found[slice].removed.push_back(install.key);
        if (claim(install))
          note_first(t, install, found[slice].duplicates);
        else
          found[slice].several.push_back(install.version);
      });
    };
  });
  std::vector<VersionId> several;
  for (const Found& part : found) {
    duplicates_.insert(duplicates_.end(), part.duplicates.begin(), part.duplicates.end());
    several.insert(several.end(), part.several.begin(), part.several.end());
    if (!part.removed.empty()) tombstoned_.resize(h_.key_count());
    for (const KeyId key : part.removed) tombstoned_[key] = 1;
  }
  if (!several.empty()) note_again(several);
}

// Returns true only for the first caller: of several writes of a version, one claims it.
bool Origins::claim(const Install& install) {
  OpId nobody = kNone;
  return std::atomic_ref(of_version_[install.version].op)
      .compare_exchange_strong(nobody, install.op, std::memory_order_relaxed);
}

// Notes the write of a version that has claimed the version.
void Origins::note_first(TxnId t, const Install& install, std::vector<DuplicateWrite>& duplicates) {
  const Origin::Kind kind = kind_of(t, install);
  const bool initial = kind != Origin::Kind::aborted && h_.is_initial(install.version);
  Origin& origin = of_version_[install.version];  // all members but `op`, which other threads read
                                                  // at the same time
  origin.kind = kind;
  origin.ambiguous = initial && kind == Origin::Kind::final_write;
  origin.unknown = h_.status(t) == TxnStatus::unknown;
  if (initial) duplicates.push_back({kNone, install.op, false});
}

// Notes the writes of versions that have several, in the order of the history.
void Origins::note_again(const std::vector<VersionId>& versions) {
  std::vector<bool> again(h_.version_count());
  for (const VersionId v : versions) {
    again[v] = true;
    of_version_[v] = {};
  }
  std::erase_if(duplicates_,
                [&](const DuplicateWrite& d) { return again[h_.op(d.second).version]; });
  WrittenKeys written;
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    const auto noted_again = [&](OpId i) {
      return installs_version(h_.op(i)) && again[h_.op(i).version];
    };
    OpId i = h_.first_op(t);
    while (i < h_.end_op(t) && !noted_again(i)) ++i;
    if (i == h_.end_op(t)) continue;
    each_install(h_, t, written, [&](const Install& install) {
      if (!again[install.version]) return;
      if (claim(install))
        note_first(t, install, duplicates_);
      else
        note_other(t, install);
    });
  }
  stable_sort_by(duplicates_, [this](const DuplicateWrite& d) {
    return pack(h_.txn_of(d.second), kNone - d.second);  // in the order in which each_install gives
                                                         // them
  });
}

Origin::Kind Origins::kind_of(TxnId t, const Install& install) const {
  if (h_.status(t) == TxnStatus::aborted) return Origin::Kind::aborted;
  return install.final ? Origin::Kind::final_write : Origin::Kind::intermediate;
}

// Notes another write of a version.
void Origins::note_other(TxnId t, const Install& install) {
  const Origin::Kind kind = kind_of(t, install), final_write = Origin::Kind::final_write;
  Origin& origin = of_version_[install.version];
  if (h_.txn_of(origin.op) != t) {
    duplicates_.push_back({origin.op, install.op, false});
    origin.several = true;
    if (kind == final_write && origin.kind == final_write) origin.ambiguous = true;
  }
  if (kind < origin.kind) {
    const bool ambiguous = kind == final_write && h_.is_initial(install.version);
    origin = {install.op, kind, ambiguous, origin.several, h_.status(t) == TxnStatus::unknown};
  }
}

bool Origins::is_ambiguous(KeyId key, VersionId version) const {
  if (of_version_[version].ambiguous || mixed(key)) return true;
  return deleted_somewhere(key) && h_.version_value(version).is_null();
}

}  // namespace assay::internal
