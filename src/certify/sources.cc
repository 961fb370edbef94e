#include "certify/sources.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "certify/operations.h"
#include "certify/refusal.h"
#include "history/key_order.h"
#include "history/predicates.h"

namespace assay::internal::certify {

Sources::Sources(const Writes& writes)
    : writes_(writes),
      history_(writes.history()),
      conditions_(history_),
      holds_list_(history_.key_count()),
      touched_(history_.key_count()) {
  for (TxnId t = 0; t < history_.txn_count(); ++t) {
    if (history_.status(t) == TxnStatus::aborted) continue;
    for (const Access& a : accesses(history_, t)) {
      if (a.is_range()) {
        for (const KeyId key : named_keys(history_, a.op)) touched_[key] = true;
        continue;
      }
      touched_[a.key] = true;
      if (a.is_list()) holds_list_[a.key] = true;
    }
  }
  for (KeyId k = 0; k < history_.key_count(); ++k) {
    if (history_.own_initial(k) != kNone && !history_.initial(k).is_null()) touched_[k] = true;
    if (touched_[k]) sorted_.push_back(k);
  }
  sort_keys(history_, sorted_);
}

bool Sources::explained_by(OpId own, OpId op, KeyId key) const {
  return explains(writes_.left({history_.txn_of(own), own}), op, key);
}

std::vector<KeyId> Sources::keys_of_range(OpId op) const {
  const auto operands = history_.operands(op);
  const auto less = [this](KeyId a, KeyId b) { return key_less(history_.key(a), history_.key(b)); };
  auto from = sorted_.begin(), to = sorted_.end();
  if (operands[0] != kNone) from = std::lower_bound(from, to, operands[0], less);
  if (operands[1] != kNone) to = std::upper_bound(from, to, operands[1], less);
  std::vector<KeyId> keys;
  const Selected selected = history_.selected(op);
  if (selected.complete)
    std::copy_if(from, to, std::back_inserter(keys),
                 [&](KeyId key) { return may_satisfy(selected.predicate, key); });
  for (const KeyId key : named_keys(history_, op)) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

bool Sources::sees(OpId i, KeyId key) const {
  const Access a = access_of(history_, i);
  if (!a.is_range()) return a.reads() && !a.is_list() && a.key == key;
  const Selected selected = history_.selected(i);
  return std::ranges::count(named_keys(history_, i), key) > 0 ||
         (selected.complete && touched_[key] && covers(history_, i, key) &&
          may_satisfy(selected.predicate, key)) ||
         (selected.aggregate != kNone && may_add_to(i, key));
}

bool Sources::may_add_to(OpId op, KeyId key) const {
  const Aggregate& aggregate = history_.predicates().aggregate(history_.selected(op).aggregate);
  return touched_[key] && covers(history_, op, key) && may_satisfy(aggregate.where, key);
}

std::vector<KeyId> Sources::keys_of_aggregate(OpId op) const {
  std::vector<KeyId> keys;
  std::ranges::copy_if(sorted_, std::back_inserter(keys),
                       [&](KeyId key) { return may_add_to(op, key); });
  return keys;
}

bool Sources::explains(const State& state, OpId i, KeyId key) const {
  const Access a = access_of(history_, i);
  if (a.is_range()) return range_explained(state, i, key);
  return a.reads() && accepts(history_, a, state) && may_be_from(history_, state, i);
}

// Whether what a range says about the key is right for this state.
bool Sources::range_explained(const State& state, OpId range, KeyId key) const {
  const Selected selected = history_.selected(range);
  const PredicateId predicate = selected.predicate;
  int named = 0;
  bool right = true;
  each_named(history_, range, [&](const Named& one) {
    if (one.key != key) return;
    ++named;
    right = conditions_.agrees(predicate, one, state);
  });
  if (named > 0) return named == 1 && right && covers(history_, range, key);
  // For keys that an aggregate looks at beyond its claim, any state will do.
  return !selected.complete || conditions_.certainly_misses(predicate, state) ||
         conditions_.match(predicate, state) != Match::yes;
}

// Asks the index of the history: the rows of a condition that has thousands of versions are not
// evaluated for each key.
bool Sources::may_satisfy(PredicateId predicate, KeyId key) const {
  if (predicate == kNone) return true;
  if (conditions_.match_initial(predicate) != Match::no) return true;
  const std::span<const KeyId> keys = history_.predicates().keys(predicate);
  return std::binary_search(keys.begin(), keys.end(), key);
}

Result<std::vector<TxnId>> Sources::of(OpId op, KeyId key, bool one_state) const {
  if (op >= history_.op_count() || key >= history_.key_count() || !sees(op, key))
    return refuse("operation {} sees no state of the key", op);
  if (holds_list_[key]) return refuse("cases are about registers, but the key holds a list");
  const TxnId reader = history_.txn_of(op);
  std::vector<OpId> together{op};
  std::optional<State> own;
  for (OpId i = history_.first_op(reader); i < history_.end_op(reader); ++i) {
    if (i == op && own) {
      if (explains(*own, op, key))
        return refuse("operation {} sees a write of its own transaction", op);
      return std::vector<TxnId>{};
    }
    if (one_state && i != op && !own && sees(i, key)) together.push_back(i);
    if (const Access a = access_of(history_, i); a.writes() && a.key == key)
      own = state_after(reader, a);
  }
  const auto fits = [&](const State& state) {
    return std::all_of(together.begin(), together.end(),
                       [&](OpId i) { return explains(state, i, key); });
  };
  std::vector<TxnId> found;
  for (const Write& write : candidates(op, key, Which::staying))
    if (write.txn != reader && fits(writes_.left(write))) found.push_back(write.txn);
  if (fits(initial_state(history_, key))) found.push_back(kNone);
  return found;
}

// A superset of the writes of the key that may explain the operation.
std::span<const Write> Sources::candidates(OpId i, KeyId key, Which which) const {
  const Access a = access_of(history_, i);
  VersionId seen = kNone;  // the version that the key held
  if (a.accepts == Accepts::equals) seen = a.seen;
  if (a.is_range()) seen = row_seen(history_, i, key);
  const bool absent =
      a.accepts == Accepts::absent || (a.is_range() && history_.selected(i).predicate == kNone);
  return seen != kNone || absent ? writes_.showing(key, seen, which) : writes_.of_key(key, which);
}

bool Sources::explained_by_any(OpId op, KeyId key) const {
  const OpId own = own_write_before(history_, op, key);
  if (own != kNone) return explained_by(own, op, key);
  if (explains(initial_state(history_, key), op, key)) return true;
  const TxnId reader = history_.txn_of(op);
  return std::ranges::any_of(candidates(op, key, Which::all), [&](const Write& write) {
    return write.txn != reader && explains(writes_.left(write), op, key);
  });
}

bool Sources::has_no_source(OpId op, KeyId key) const {
  if (op >= history_.op_count() || key >= history_.key_count() || !sees(op, key)) return false;
  if (own_write_before(history_, op, key) != kNone) return false;
  const Result<std::vector<TxnId>> all = of(op, key, false);
  return all.ok() && all->empty();
}

bool Sources::possible(OpId op, KeyId key, TxnId source) const {
  return op < history_.op_count() && key < history_.key_count() && sees(op, key) &&
         own_write_before(history_, op, key) == kNone && source != history_.txn_of(op) &&
         possible_external(op, key, source);
}

bool Sources::possible_external(OpId op, KeyId key, TxnId source) const {
  if (holds_list_[key]) return false;
  if (source == kNone) return explains(initial_state(history_, key), op, key);
  const Write* const write = writes_.left_by(source, key);
  return write != nullptr && explains(writes_.left(*write), op, key);
}

}  // namespace assay::internal::certify
