#include "history/accesses.h"

#include <algorithm>

namespace assay::internal {

namespace {

// Returns what a range says about the keys that it names.
std::vector<Observation> named_by_range(const History& history, OpId range) {
  const Selected selected = history.selected(range);
  const auto match = [&](VersionId v) {
    const bool any = selected.predicate == kNone;
    return any ? Match::open : history.predicates().match(selected.predicate, v);
  };
  std::vector<Observation> seen;
  for (const VersionId row : selected.rows)
    seen.push_back({range, history.version_key(row), row,
                    match(row) == Match::no ? Accepts::nothing : Accepts::equals});
  for (const VersionId row : selected.passed)
    seen.push_back({range, history.version_key(row), row,
                    match(row) == Match::yes ? Accepts::nothing : Accepts::equals});
  for (const KeyId key : selected.matched)
    seen.push_back({range, key, kNone, Accepts::matches, selected.predicate});
  return seen;
}

}  // namespace

std::vector<Observation> observations_of_range(const History& history, OpId range,
                                               std::span<const KeyId> keys) {
  const auto less = [&](KeyId a, KeyId b) { return key_less(history.key(a), history.key(b)); };
  const KeyBounds bounds = bounds_of(history, range);
  const Selected selected = history.selected(range);
  std::vector<Observation> seen = named_by_range(history, range);
  for (Observation& one : seen)
    if ((bounds.from != kNone && less(one.key, bounds.from)) ||
        (bounds.to != kNone && less(bounds.to, one.key)))
      one.accepts = Accepts::nothing;
  const auto key_order = [](const Observation& a, const Observation& b) { return a.key < b.key; };
  std::sort(seen.begin(), seen.end(), key_order);
  const size_t named = seen.size();
  for (size_t k = 1; k < named; ++k)  // no key may be named twice
    if (seen[k].key == seen[k - 1].key) seen[k].accepts = seen[k - 1].accepts = Accepts::nothing;
  if (selected.complete) {
    const Accepts others = selected.predicate == kNone ? Accepts::absent : Accepts::misses;
    for (const KeyId key : keys) {
      const auto end = seen.begin() + static_cast<std::ptrdiff_t>(named);
      const auto row = std::lower_bound(seen.begin(), end, key,
                                        [](const Observation& o, KeyId k) { return o.key < k; });
      if (row == end || row->key != key)
        seen.push_back({range, key, kNone, others, selected.predicate});
    }
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
