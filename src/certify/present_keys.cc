#include "certify/present_keys.h"

#include <algorithm>
#include <numeric>

namespace assay::internal::certify {
namespace {

template <class Visit>
void each_operation_that_may_count(const History& history, Visit visit) {
  for (TxnId t = 0; t < history.txn_count(); ++t)
    if (history.status(t) != TxnStatus::aborted)
      for (OpId i = history.first_op(t); i < history.end_op(t); ++i) visit(i);
}

}  // namespace

PresentKeys::PresentKeys(const History& history, bool everywhere)
    : sorted_(history.key_count()), rank_(history.key_count()) {
  std::iota(sorted_.begin(), sorted_.end(), KeyId{0});
  std::sort(sorted_.begin(), sorted_.end(),
            [&](KeyId a, KeyId b) { return key_less(history.key(a), history.key(b)); });
  for (uint32_t r = 0; r < sorted_.size(); ++r) rank_[sorted_[r]] = r;
  if (!everywhere) return;
  // The keys of the database are those that some operation touches; bounds of ranges need not
  // exist.
  each_operation_that_may_count(history, [&](OpId i) {
    const Operation op = history.op(i);
    if (op.kind != OpKind::range) {
      set(op.key, true);
    } else {
      for (VersionId row : history.operands(i).subspan(2)) set(history.version_key(row), true);
    }
  });
}

void PresentKeys::set(KeyId key, bool present) {
  if (present) {
    present_.insert(rank_[key]);
  } else {
    present_.erase(rank_[key]);
  }
}

bool PresentKeys::in_range(KeyId key, KeyId lo, KeyId hi) const {
  return (lo == kNone || rank_[lo] <= rank_[key]) && (hi == kNone || rank_[key] <= rank_[hi]);
}

bool has_ranges(const History& history) {
  bool found = false;
  each_operation_that_may_count(
      history, [&](OpId i) { found = found || history.op(i).kind == OpKind::range; });
  return found;
}

}  // namespace assay::internal::certify
