#include "infer/dirty_states.h"

#include <algorithm>
#include <numeric>

namespace assay::internal {

DirtyStates::DirtyStates(const History& history)
    : h_(history),
      keys_(history),
      writes_(history.key_count()),
      absences_(history.key_count()),
      version_begin_(history.version_count() + 1) {
  for (OpId i = 0; i < h_.op_count(); ++i) {
    const Operation op = h_.op(i);
    if (!installs_version(op)) continue;
    writes_[op.key].push_back(i);
    if (is_absent(h_, install_of(h_, i).state())) absences_[op.key].push_back(i);
    ++version_begin_[op.version + 1];
  }
  std::partial_sum(version_begin_.begin(), version_begin_.end(), version_begin_.begin());
  by_version_.resize(version_begin_.back());
  std::vector<uint32_t> next(version_begin_.begin(), version_begin_.end() - 1);
  for (const std::vector<OpId>& of_key : writes_)
    for (const OpId w : of_key) by_version_[next[h_.op(w).version]++] = w;
}

bool DirtyStates::covers_list(OpId range) const {
  const std::span<const KeyId> keys = keys_.covered(range);
  return std::any_of(keys.begin(), keys.end(), [this](KeyId k) { return keys_.is_list(k); });
}

// The writes that may explain it: all that do, and perhaps others.
std::span<const OpId> DirtyStates::candidates(const Observation& seen) const {
  const bool equals = seen.accepts == Accepts::equals;
  if (equals && !h_.version_value(seen.version).is_null())
    return {by_version_.data() + version_begin_[seen.version],
            by_version_.data() + version_begin_[seen.version + 1]};
  if (equals || seen.accepts == Accepts::absent) return absences_[seen.key];
  return writes_[seen.key];
}

bool DirtyStates::explained(const Observation& seen) const {
  const TxnId reader = h_.txn_of(seen.op);
  const auto explains = [&](OpId w) { return fits(h_, seen, install_of(h_, w).state()); };
  const std::vector<OpId>& writes = writes_[seen.key];
  const auto own_end = std::lower_bound(writes.begin(), writes.end(), seen.op);
  if (own_end != writes.begin() && *(own_end - 1) >= h_.first_op(reader))
    return explains(*(own_end - 1));
  const std::span<const OpId> others = candidates(seen);
  return fits(h_, seen, initial_state(h_, seen.key)) ||
         std::any_of(others.begin(), others.end(), [&](OpId w) {
           return (w < h_.first_op(reader) || w >= h_.end_op(reader)) && explains(w);
         });
}

KeyId DirtyStates::unexplained(OpId i) const {
  for (const Observation& seen : keys_.seen_by(i))
    if (!explained(seen)) return seen.key;
  return kNone;
}

}  // namespace assay::internal
