#include "infer/dirty_states.h"

#include <algorithm>

namespace assay::internal {

DirtyStates::DirtyStates(const History& history)
    : h_(history), keys_(history), writes_(history.key_count()) {
  for (OpId i = 0; i < h_.op_count(); ++i)
    if (const Operation op = h_.op(i); installs_version(op)) writes_[op.key].push_back(i);
}

bool DirtyStates::covers_list(OpId range) const {
  const std::span<const KeyId> keys = keys_.covered(range);
  return std::any_of(keys.begin(), keys.end(), [this](KeyId k) { return keys_.is_list(k); });
}

bool DirtyStates::explained(const Observation& seen) const {
  const TxnId reader = h_.txn_of(seen.op);
  const auto explains = [&](OpId w) { return fits(h_, seen, install_of(h_, w).state()); };
  const std::vector<OpId>& writes = writes_[seen.key];
  const auto own_end = std::lower_bound(writes.begin(), writes.end(), seen.op);
  if (own_end != writes.begin() && *(own_end - 1) >= h_.first_op(reader))
    return explains(*(own_end - 1));
  return fits(h_, seen, KeyState{}) || std::any_of(writes.begin(), writes.end(), [&](OpId w) {
           return (w < h_.first_op(reader) || w >= h_.end_op(reader)) && explains(w);
         });
}

KeyId DirtyStates::unexplained(OpId i) const {
  for (const Observation& seen : keys_.seen_by(i))
    if (!explained(seen)) return seen.key;
  return kNone;
}

}  // namespace assay::internal
