#include "levels/overdrawn.h"

#include <vector>

namespace assay {
namespace {

// What the transaction at hand did with a key.
struct Touch {
  TxnId txn = kNone;
  OpId read = kNone;  // its last read before its first write
  bool wrote = false;
};

// The version that an operation saw of its key before it wrote, if it says which.
VersionId version_seen(const History& h, OpId i, const Operation& op) {
  if (op.kind == OpKind::read) return op.version;
  return op.kind == OpKind::cas && op.effect ? h.operands(i)[0] : kNone;
}

}  // namespace

BadRead find_overdrawn(const History& h) {
  std::vector<int64_t> left(h.version_count(), 0);
  for (OpId i = 0; i < h.op_count(); ++i) {
    const Operation op = h.op(i);
    if (installs_version(op) && h.status(h.txn_of(i)) != TxnStatus::aborted) ++left[op.version];
  }
  // A null may be the initial value or any removal: not counted.
  for (VersionId v = 0; v < h.version_count(); ++v) left[v] += h.is_initial(v);
  std::vector<Touch> touched(h.key_count());
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) != TxnStatus::committed) continue;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Operation op = h.op(i);
      if (op.key == kNone || op.kind == OpKind::range) continue;
      Touch& touch = touched[op.key];
      if (touch.txn != t) touch = {t, kNone, false};
      if (touch.wrote) continue;
      const VersionId seen = version_seen(h, i, op);
      if (seen != kNone) touch.read = h.version_value(seen).is_null() ? kNone : i;
      if (!installs_version(op)) continue;
      touch.wrote = true;
      if (touch.read == kNone || op.kind == OpKind::append) continue;
      const OpId read = touch.read;
      if (--left[version_seen(h, read, h.op(read))] < 0) return {Anomaly::lost_update, read, kNone};
    }
  }
  return {};
}

}  // namespace assay
