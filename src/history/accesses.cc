#include "history/accesses.h"

#include <algorithm>

namespace assay::internal {

std::vector<Observation> observations_of_range(const History& history, OpId range,
                                               std::span<const KeyId> keys) {
  const auto less = [&](KeyId a, KeyId b) { return key_less(history.key(a), history.key(b)); };
  const KeyBounds bounds = bounds_of(history, range);
  const std::span<const VersionId> rows = rows_of(history, range);
  std::vector<Observation> seen;
  seen.reserve(rows.size() + keys.size());
  for (const VersionId row : rows) {
    const KeyId key = history.version_key(row);
    const bool outside = (bounds.from != kNone && less(key, bounds.from)) ||
                         (bounds.to != kNone && less(bounds.to, key));
    seen.push_back({range, key, row, outside ? Accepts::nothing : Accepts::equals});
  }
  const auto key_order = [](const Observation& a, const Observation& b) { return a.key < b.key; };
  std::sort(seen.begin(), seen.end(), key_order);
  const size_t listed = seen.size();
  for (size_t k = 1; k < listed; ++k)  // a key is listed once
    if (seen[k].key == seen[k - 1].key) seen[k].accepts = seen[k - 1].accepts = Accepts::nothing;
  for (const KeyId key : keys) {
    const auto end = seen.begin() + static_cast<std::ptrdiff_t>(listed);
    const auto row = std::lower_bound(seen.begin(), end, key,
                                      [](const Observation& o, KeyId k) { return o.key < k; });
    if (row == end || row->key != key) seen.push_back({range, key, kNone, Accepts::absent});
  }
  std::sort(seen.begin(), seen.end(), key_order);
  const auto same_key = [](const Observation& a, const Observation& b) { return a.key == b.key; };
  seen.erase(std::unique(seen.begin(), seen.end(), same_key), seen.end());
  return seen;
}

OutsideList outside_list(const History& history, OpId read_list) {
  const KeyId key = history.op(read_list).key;
  const OpId first = history.first_op(history.txn_of(read_list));
  OutsideList list{elements_of(history, read_list)};
  for (OpId i = read_list; i-- > first;) {
    const Operation own = history.op(i);
    if (own.kind != OpKind::append || own.key != key) continue;
    if (list.elements.empty() || list.elements.back() != own.version) {
      list.missing = i;
      break;
    }
    list.elements = list.elements.first(list.elements.size() - 1);
  }
  return list;
}

}  // namespace assay::internal
