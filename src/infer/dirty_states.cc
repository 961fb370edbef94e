#include "infer/dirty_states.h"

#include <algorithm>

namespace assay::internal {

namespace {

std::vector<OpId> all_writes(const History& h) {
  std::vector<OpId> all;
  for (OpId i = 0; i < h.op_count(); ++i)
    if (installs_version(h.op(i))) all.push_back(i);
  return all;
}

}  // namespace

DirtyStates::DirtyStates(const History& history)
    : h_(history), keys_(history), writes_(history, all_writes(history), [&](OpId w) {
        return install_of(history, w).state();
      }) {}

bool DirtyStates::covers_list(OpId range) const {
  const std::span<const KeyId> keys = keys_.covered(range);
  return std::any_of(keys.begin(), keys.end(), [this](KeyId k) { return keys_.is_list(k); });
}

// The last write of the key by the same transaction; kNone if there is none.
OpId DirtyStates::own_write_before(const Observation& seen) const {
  const std::span<const OpId> writes = writes_.of(seen.key);
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
  for (const OpId w : writes_.candidates(seen.key, {&seen, 1})) {
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
