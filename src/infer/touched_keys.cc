#include "infer/touched_keys.h"

#include <algorithm>

#include "history/key_order.h"

namespace assay::internal {

bool is_within(const History& h, OpId range, KeyId key) {
  const auto [from, to] = bounds_of(h, range);
  return (from == kNone || !key_less(h.key(key), h.key(from))) &&
         (to == kNone || !key_less(h.key(to), h.key(key)));
}

TouchedKeys::TouchedKeys(const History& history)
    : h_(history), list_(history.key_count()), touched_(history.key_count()) {
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(t) == TxnStatus::aborted) continue;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      if (is_range(op)) {
        each_named_key(h_, i, [&](KeyId key) { touched_[key] = true; });
        continue;
      }
      touched_[op.key] = true;
      if (is_list_operation(op)) list_[op.key] = true;
    }
  }
  for (KeyId k = 0; k < h_.key_count(); ++k) {
    if (h_.own_initial(k) != kNone && !h_.initial(k).is_null()) touched_[k] = true;
    if (touched_[k]) sorted_.push_back(k);
  }
  sort_keys(h_, sorted_);
}

std::span<const KeyId> TouchedKeys::covered(OpId range) const {
  const auto [lowest, highest] = bounds_of(h_, range);
  const auto less = [this](KeyId a, KeyId b) { return key_less(h_.key(a), h_.key(b)); };
  auto from = sorted_.begin(), to = sorted_.end();
  if (lowest != kNone) from = std::lower_bound(from, to, lowest, less);
  if (highest != kNone) to = std::upper_bound(from, to, highest, less);
  return {from, to};
}

// Only keys that ever held something that satisfies the condition are worth a look.
std::vector<KeyId> TouchedKeys::that_may_satisfy(OpId range, PredicateId predicate) const {
  const Predicates& predicates = h_.predicates();
  if (!h_.initial().is_null() && predicates.match_initial(predicate) != Match::no) {
    const std::span<const KeyId> all = covered(range);
    return {all.begin(), all.end()};
  }
  std::vector<KeyId> keys;
  for (const KeyId key : predicates.keys(predicate))
    if (touched_[key] && is_within(h_, range, key)) keys.push_back(key);
  return keys;
}

std::vector<Observation> TouchedKeys::seen_by(OpId op) const {
  const Observation seen = observation_of(h_, op);
  if (seen.accepts == Accepts::any) return {};
  if (seen.accepts != Accepts::rows) return {seen};
  if (h_.selected(op).predicate == kNone) return observations_of_range(h_, op, covered(op));
  return observations_of_range(h_, op, that_may_satisfy(op, h_.selected(op).predicate));
}

}  // namespace assay::internal
