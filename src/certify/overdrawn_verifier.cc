#include "certify/overdrawn_verifier.h"

#include "certify/reads.h"
#include "certify/refusal.h"

namespace assay::internal::certify {
namespace {

// Whether transaction t saw the version before it wrote the key, and then wrote the key.
bool overwrites(const History& h, TxnId t, KeyId key, VersionId version) {
  bool saw = false;
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    const Operation op = h.op(i);
    if (op.kind == OpKind::range || op.key != key) continue;
    if (op.kind == OpKind::read) saw = op.version == version;
    if (op.kind == OpKind::cas && op.effect) saw = h.operands(i)[0] == version;
    if (writes(op)) return saw;
  }
  return false;
}

}  // namespace

Status check_overdrawn(const History& history, OpId read) {
  const Operation op = history.op(read);
  if (op.kind != OpKind::read && !(op.kind == OpKind::cas && op.effect))
    return refuse("operation {} saw no value", read);
  const VersionId version = op.kind == OpKind::read ? op.version : history.operands(read)[0];
  if (history.version_value(version).is_null())
    return refuse("null is there after each removal, and is not counted");
  uint64_t there = history.is_initial(version) ? 1 : 0;
  uint64_t overwritten = 0;
  for (OpId i = 0; i < history.op_count(); ++i) {
    const Operation o = history.op(i);
    if (writes(o) && o.version == version &&
        history.status(history.txn_of(i)) != TxnStatus::aborted)
      ++there;
  }
  for (TxnId t = 0; t < history.txn_count(); ++t)
    if (history.status(t) == TxnStatus::committed && overwrites(history, t, op.key, version))
      ++overwritten;
  if (overwritten > there) return Ok{};
  return refuse("{} was there {} times and overwritten by {} who had read it",
                show_version(history, version), there, overwritten);
}

}  // namespace assay::internal::certify
