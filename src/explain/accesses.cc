#include "explain/accesses.h"

#include <unordered_map>
#include <unordered_set>

#include "history/accesses.h"

namespace assay::internal {

Accesses::Accesses(const History& h)
    : h_(h),
      writer_(h.version_count(), kNone),
      anybody_(h.version_count(), kNone),
      several_(h.version_count()),
      made_absent_(h.key_count()) {
  std::vector<bool> deleted(h.key_count());
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    const bool counts = h.status(t) != TxnStatus::aborted;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      if (!installs_version(h.op(i))) continue;
      const Install install = install_of(h, i);
      TxnId& anybody = anybody_[install.version];
      anybody = anybody == kNone || anybody == t ? t : kSeveral;
      if (install.removes) made_absent_[install.key] = true;
      if (!counts) continue;
      TxnId& writer = writer_[install.version];
      if ((writer != kNone && writer != t) || h.is_initial(install.version))
        several_[install.version] = true;
      if (install.removes) deleted[install.key] = true;
      const bool better = writer == kNone || (h.status(writer) == TxnStatus::unknown &&
                                              h.status(t) == TxnStatus::committed);
      if (better) writer = t;
    }
  }
  for (VersionId v = 0; v < h.version_count(); ++v) {
    if (!h.version_value(v).is_null()) continue;
    const KeyId key = h.version_key(v);
    if (anybody_[v] != kNone) made_absent_[key] = true;
    if (deleted[key]) several_[v] = true;
  }
}

std::vector<Access> Accesses::certain(std::vector<Access> accesses) const {
  std::erase_if(accesses, [this](const Access& a) { return !certain(a.version); });
  return accesses;
}

Access Accesses::find(const std::vector<Access>& accesses, KeyId key) {
  for (const Access& a : accesses)
    if (a.key == key) return a;
  return {};
}

std::vector<Access> Accesses::all_reads(TxnId t) const {
  std::vector<Access> reads;
  WrittenKeys written;
  const auto look = [&](const Observation& seen) {
    if (seen.accepts == Accepts::rows) {
      for (const VersionId row : rows_of(h_, seen.op))
        if (const KeyId key = h_.version_key(row); !written.contains(key))
          reads.push_back({key, row, seen.op});
    } else if (!seen.own && (seen.accepts == Accepts::equals || seen.accepts == Accepts::list)) {
      reads.push_back({seen.key, seen.version, seen.op});
    }
  };
  walk_accesses(h_, t, written, look, [](const Install&) {});
  return reads;
}

std::vector<Access> Accesses::reads(TxnId t) const {
  std::vector<Access> first;
  std::unordered_set<KeyId> seen;
  for (const Access& a : all_reads(t))
    if (seen.insert(a.key).second) first.push_back(a);
  return first;
}

std::vector<Access> Accesses::writes(TxnId t) const {
  std::vector<Access> last;
  std::unordered_map<KeyId, size_t> place;
  for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
    const Operation op = h_.op(i);
    if (!installs_version(op)) continue;
    const auto [at, fresh] = place.emplace(op.key, last.size());
    if (fresh) last.push_back({});
    last[at->second] = {op.key, op.version, i};
  }
  return last;
}

}  // namespace assay::internal
