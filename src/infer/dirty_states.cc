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

// The last one; kNone if there is none.
OpId DirtyStates::own_write_before(const Observation& seen) const {
  const std::vector<OpId>& writes = writes_[seen.key];
  const auto end = std::lower_bound(writes.begin(), writes.end(), seen.op);
  return end != writes.begin() && is_of(h_.txn_of(seen.op), *(end - 1)) ? *(end - 1) : kNone;
}

bool DirtyStates::explained(const Observation& seen) const {
  const auto explains = [&](OpId w) { return fits(h_, seen, install_of(h_, w).state()); };
  if (const OpId own = own_write_before(seen); own != kNone) return explains(own);
  return fits(h_, seen, initial_state(h_, seen.key)) || !explained_by(seen).empty();
}

std::vector<OpId> DirtyStates::explained_by(const Observation& seen) const {
  constexpr size_t kFew = 3;
  std::vector<OpId> few;
  if (own_write_before(seen) != kNone || fits(h_, seen, initial_state(h_, seen.key))) return few;
  for (const OpId w : candidates(seen)) {
    if (is_of(h_.txn_of(seen.op), w) || !fits(h_, seen, install_of(h_, w).state())) continue;
    few.push_back(w);
    if (few.size() == kFew) break;
  }
  return few;
}

KeyId DirtyStates::unexplained(OpId i) const {
  for (const Observation& seen : keys_.seen_by(i))
    if (!explained(seen)) return seen.key;
  return kNone;
}

}  // namespace assay::internal
