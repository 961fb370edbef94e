#include "levels/overdrawn.h"

#include <vector>

#include "history/accesses.h"

namespace assay::internal {

std::vector<int64_t> times_there(const History& h) {
  std::vector<int64_t> there(h.version_count(), 0);
  for (OpId i = 0; i < h.op_count(); ++i) {
    const Operation op = h.op(i);
    if (installs_version(op) && h.status(h.txn_of(i)) != TxnStatus::aborted) ++there[op.version];
  }
  for (VersionId v = 0; v < h.version_count(); ++v) there[v] += h.is_initial(v);
  return there;
}

void each_update(const History& h, const std::function<bool(OpId, VersionId)>& take) {
  struct LastRead {
    TxnId txn = kNone;
    OpId op = kNone;
    VersionId version = kNone;  // kNone: the read returned a null
  };
  std::vector<LastRead> last_read(h.key_count());
  bool more = true;
  WrittenKeys written;
  const auto look = [&](TxnId t, const Observation& seen) {
    if (seen.own || seen.accepts != Accepts::equals) return;
    const bool null = h.version_value(seen.version).is_null();
    last_read[seen.key] = {t, seen.op, null ? kNone : seen.version};
  };
  const auto put = [&](TxnId t, const Install& install) {
    const LastRead& read = last_read[install.key];
    if (install.appends || read.txn != t || read.version == kNone) return;
    if (written.contains(install.key) || !more) return;
    more = take(read.op, read.version);
  };
  for (TxnId t = 0; t < h.txn_count() && more; ++t) {
    if (h.status(t) != TxnStatus::committed) continue;
    walk_accesses(
        h, t, written, [&](const Observation& seen) { look(t, seen); },
        [&](const Install& install) { put(t, install); });
  }
}

BadRead find_overdrawn(const History& h) {
  std::vector<int64_t> left = times_there(h);
  BadRead found;
  each_update(h, [&](OpId read, VersionId version) {
    if (--left[version] >= 0) return true;
    found = {Anomaly::lost_update, read, kNone};
    return false;
  });
  return found;
}

}  // namespace assay::internal
