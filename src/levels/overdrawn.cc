#include "levels/overdrawn.h"

#include <vector>

#include "history/accesses.h"

namespace assay::internal {
BadRead find_overdrawn(const History& h) {
  std::vector<int64_t> left(h.version_count(), 0);
  for (OpId i = 0; i < h.op_count(); ++i) {
    const Operation op = h.op(i);
    if (installs_version(op) && h.status(h.txn_of(i)) != TxnStatus::aborted) ++left[op.version];
  }
  // A null may be the initial value or any removal: not counted.
  for (VersionId v = 0; v < h.version_count(); ++v) left[v] += h.is_initial(v);
  struct LastRead {
    TxnId txn = kNone;
    OpId op = kNone;
    VersionId version = kNone;  // kNone: a null
  };
  std::vector<LastRead> last_read(h.key_count());
  BadRead found;
  WrittenKeys written;
  const auto look = [&](TxnId t, const Observation& seen) {
    if (seen.own || seen.accepts != Accepts::equals) return;
    const bool null = h.version_value(seen.version).is_null();
    last_read[seen.key] = {t, seen.op, null ? kNone : seen.version};
  };
  const auto put = [&](TxnId t, const Install& install) {
    const LastRead& read = last_read[install.key];
    if (install.appends || read.txn != t || read.version == kNone) return;
    if (written.contains(install.key) || found.anomaly != Anomaly::none) return;
    if (--left[read.version] < 0) found = {Anomaly::lost_update, read.op, kNone};
  };
  for (TxnId t = 0; t < h.txn_count() && found.anomaly == Anomaly::none; ++t) {
    if (h.status(t) != TxnStatus::committed) continue;
    walk_accesses(
        h, t, written, [&](const Observation& seen) { look(t, seen); },
        [&](const Install& install) { put(t, install); });
  }
  return found;
}

}  // namespace assay::internal
