#include "explain/reads_and_writes.h"

#include "history/accesses.h"

namespace assay::internal {

std::vector<Access> reads_of(const History& h, TxnId t) {
  std::vector<Access> reads;
  WrittenKeys written;
  const auto look = [&](const Observation& seen) {
    if (seen.accepts == Accepts::rows) {
      for (const VersionId row : rows_of(h, seen.op))
        if (const KeyId key = h.version_key(row); !written.contains(key))
          reads.push_back({key, row, seen.op});
    } else if (!seen.own && (seen.accepts == Accepts::equals || seen.accepts == Accepts::list)) {
      reads.push_back({seen.key, seen.version, seen.op});
    }
  };
  walk_accesses(h, t, written, look, [](const Install&) {});
  return reads;
}

Access first_read(const History& h, TxnId t, KeyId key) {
  for (const Access& read : reads_of(h, t))
    if (read.key == key) return read;
  return {};
}

OpId last_write(const History& h, TxnId t, KeyId key) {
  for (OpId i = h.end_op(t); i-- > h.first_op(t);)
    if (installs_version(h.op(i)) && h.op(i).key == key) return i;
  return kNone;
}

bool overwrites(const History& h, TxnId t, KeyId key) {
  const OpId write = last_write(h, t, key);
  return write != kNone && !install_of(h, write).removes && !install_of(h, write).appends;
}

bool wrote(const History& h, TxnId t, VersionId version) {
  if (t == kNone) return h.is_initial(version);
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
    if (installs_version(h.op(i)) && h.op(i).version == version) return true;
  return false;
}

std::vector<TxnId> sources_of_versions(const History& h) {
  std::vector<TxnId> source(h.version_count(), kNone);
  std::vector<bool> removed(h.key_count());
  for (OpId i = 0; i < h.op_count(); ++i) {
    if (!installs_version(h.op(i)) || h.status(h.txn_of(i)) == TxnStatus::aborted) continue;
    const Install install = install_of(h, i);
    const TxnId t = h.txn_of(i), other = source[install.version];
    const bool only = (other == kNone || other == t) && !h.is_initial(install.version);
    source[install.version] = only ? t : kSeveral;
    if (install.removes) removed[install.key] = true;
  }
  for (VersionId v = 0; v < h.version_count(); ++v)
    if (removed[h.version_key(v)] && h.version_value(v).is_null()) source[v] = kSeveral;
  return source;
}

bool is_list(const History& h, OpId op) { return observation_of(h, op).accepts == Accepts::list; }

}  // namespace assay::internal
