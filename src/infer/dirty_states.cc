#include "infer/dirty_states.h"

#include <algorithm>
#include <unordered_map>

namespace assay {

DirtyStates::DirtyStates(const History& history)
    : h_(history), writes_(history.key_count()), list_(history.key_count()) {
  std::vector<bool> touched(history.key_count());
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      if (installs_version(op)) writes_[op.key].push_back(i);
      if (h_.status(t) == TxnStatus::aborted) continue;
      if (op.kind == OpKind::append || op.kind == OpKind::read_list) list_[op.key] = true;
      if (op.kind != OpKind::range) touched[op.key] = true;
      if (op.kind != OpKind::range) continue;
      for (const VersionId row : h_.operands(i).subspan(2)) touched[h_.version_key(row)] = true;
    }
  }
  for (KeyId k = 0; k < h_.key_count(); ++k)
    if (touched[k]) sorted_.push_back(k);
  std::sort(sorted_.begin(), sorted_.end(),
            [this](KeyId a, KeyId b) { return key_less(h_.key(a), h_.key(b)); });
}

std::span<const KeyId> DirtyStates::covered(OpId range) const {
  const std::span<const uint32_t> operands = h_.operands(range);
  const auto less = [this](KeyId a, KeyId b) { return key_less(h_.key(a), h_.key(b)); };
  auto from = sorted_.begin(), to = sorted_.end();
  if (operands[0] != kNone) from = std::lower_bound(from, to, operands[0], less);
  if (operands[1] != kNone) to = std::upper_bound(from, to, operands[1], less);
  return {from, to};
}

bool DirtyStates::covers_list(OpId range) const {
  const std::span<const KeyId> keys = covered(range);
  return std::any_of(keys.begin(), keys.end(), [this](KeyId k) { return list_[k]; });
}

// Whether the operation returned what it had to if it met what `write` left (nothing: the initial state). `row`: of a
// range, what it returned of the key, kNone if it did not return it.
bool DirtyStates::shows(std::optional<OpId> write, OpId i, VersionId row) const {
  const Operation op = h_.op(i);
  const bool removed = write && h_.op(*write).kind == OpKind::remove;
  const auto holds = [&](VersionId version) {
    if (!write) return h_.is_initial(version);
    return h_.op(*write).version == version || (removed && h_.version_value(version).is_null());
  };
  const bool absent = !write ? h_.initial().is_null()
                             : removed || h_.version_value(h_.op(*write).version).is_null();
  switch (op.kind) {
    case OpKind::read:
      return holds(op.version);
    case OpKind::cas:
      return holds(h_.operands(i)[0]) == op.effect;
    case OpKind::insert:
      return absent == op.effect;
    case OpKind::range:
      return row == kNone ? absent : holds(row);
    default:
      return true;
  }
}

bool DirtyStates::explained(OpId i, KeyId key, VersionId row) const {
  const TxnId reader = h_.txn_of(i);
  const std::vector<OpId>& writes = writes_[key];
  const auto own_end = std::lower_bound(writes.begin(), writes.end(), i);
  if (own_end != writes.begin() && *(own_end - 1) >= h_.first_op(reader))
    return shows(*(own_end - 1), i, row);
  return shows(std::nullopt, i, row) || std::any_of(writes.begin(), writes.end(), [&](OpId w) {
           return (w < h_.first_op(reader) || w >= h_.end_op(reader)) && shows(w, i, row);
         });
}

KeyId DirtyStates::unexplained(OpId i) const {
  const Operation op = h_.op(i);
  if (op.kind != OpKind::range) return explained(i, op.key, kNone) ? kNone : op.key;
  const std::span<const KeyId> keys = covered(i);
  std::unordered_map<KeyId, VersionId> rows;
  for (const VersionId row : h_.operands(i).subspan(2)) {
    const KeyId key = h_.version_key(row);
    const bool inside = std::binary_search(keys.begin(), keys.end(), key, [this](KeyId a, KeyId b) {
      return key_less(h_.key(a), h_.key(b));
    });
    if (!inside || !rows.try_emplace(key, row).second) return key;
  }
  for (const KeyId key : keys) {
    const auto row = rows.find(key);
    if (!explained(i, key, row == rows.end() ? kNone : row->second)) return key;
  }
  return kNone;
}

}  // namespace assay
