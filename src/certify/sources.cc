#include "certify/sources.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "certify/operations.h"
#include "certify/refusal.h"
#include "history/key_order.h"
#include "history/predicates.h"

namespace assay::internal::certify {

Sources::Sources(const History& history)
    : history_(history),
      conditions_(history),
      left_(history.key_count()),
      written_(history.key_count()),
      absent_(history.key_count()),
      holds_list_(history.key_count()),
      touched_(history.key_count()) {
  for (TxnId t = 0; t < history.txn_count(); ++t) {
    for (const Access& a : accesses(history, t))
      if (a.writes()) written_[a.key].push_back(state_after(t, a));
    if (history.status(t) == TxnStatus::aborted) continue;
    for (const Access& a : accesses(history, t)) {
      if (a.is_range()) {
        for (const KeyId key : named_keys(history, a.op)) touched_[key] = true;
        continue;
      }
      touched_[a.key] = true;
      if (a.is_list()) holds_list_[a.key] = true;
      if (!a.writes()) continue;
      if (left_[a.key].empty() || left_[a.key].back().writer != t) left_[a.key].push_back({});
      left_[a.key].back() = state_after(t, a);
    }
  }
  for (KeyId k = 0; k < history.key_count(); ++k) {
    std::ranges::sort(written_[k], {}, &State::version);
    std::copy_if(written_[k].begin(), written_[k].end(), std::back_inserter(absent_[k]),
                 [&](const State& state) { return is_absent(history, state); });
    if (history.own_initial(k) != kNone && !history.initial(k).is_null()) touched_[k] = true;
    if (touched_[k]) sorted_.push_back(k);
  }
  sort_keys(history, sorted_);
}

bool Sources::explained_by(OpId own, OpId op, KeyId key) const {
  return explains(state_after(history_.txn_of(own), access_of(history_, own)), op, key);
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
          may_satisfy(selected.predicate, key));
}

bool Sources::explains(const State& state, OpId i, KeyId key) const {
  const Access a = access_of(history_, i);
  if (a.is_range()) return range_explained(state, i, key);
  return a.reads() && accepts(history_, a, state) && may_be_from(history_, state, i);
}

// Whether what a range says of the key is right of this state.
bool Sources::range_explained(const State& state, OpId range, KeyId key) const {
  const Selected selected = history_.selected(range);
  const PredicateId predicate = selected.predicate;
  int named = 0;
  bool right = true;
  for (const VersionId row : selected.rows) {
    if (history_.version_key(row) != key) continue;
    ++named;
    right = shows(history_, state, row) &&
            (predicate == kNone || conditions_.match(predicate, row) != Match::no);
  }
  for (const VersionId row : selected.passed) {
    if (history_.version_key(row) != key) continue;
    ++named;
    right = shows(history_, state, row) && conditions_.match(predicate, row) != Match::yes;
  }
  for (const KeyId one : selected.matched) {
    if (one != key) continue;
    ++named;
    right = conditions_.match(predicate, state) != Match::no;
  }
  if (named > 0) return named == 1 && right && covers(history_, range, key);
  return conditions_.certainly_misses(predicate, state) ||
         conditions_.match(predicate, state) != Match::yes;
}

// By the index of the history: the rows of a condition that has thousands of versions are not evaluated for each key.
bool Sources::may_satisfy(PredicateId predicate, KeyId key) const {
  if (predicate == kNone) return true;
  if (conditions_.match_initial(predicate) != Match::no) return true;
  const std::span<const KeyId> keys = history_.predicates().keys(predicate);
  return std::binary_search(keys.begin(), keys.end(), key);
}

Result<std::vector<TxnId>> Sources::of(OpId op, KeyId key, bool one_state) const {
  if (op >= history_.op_count() || key >= history_.key_count() || !sees(op, key))
    return refuse("operation {} sees no state of the key", op);
  if (holds_list_[key]) return refuse("cases are about registers, and the key holds a list");
  const TxnId reader = history_.txn_of(op);
  std::vector<OpId> together{op};
  std::optional<State> own;
  for (OpId i = history_.first_op(reader); i < history_.end_op(reader); ++i) {
    if (i == op && own) {
      if (explains(*own, op, key))
        return refuse("operation {} sees the own write of its transaction", op);
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
  for (const State& state : left_[key])
    if (state.writer != reader && fits(state)) found.push_back(state.writer);
  if (fits(initial_state(history_, key))) found.push_back(kNone);
  return found;
}

// What anybody wrote of the key that may explain the operation: all that does, and perhaps more.
std::span<const State> Sources::candidates(OpId i, KeyId key) const {
  const Access a = access_of(history_, i);
  VersionId seen = kNone;  // that the key held
  if (a.accepts == Accepts::equals) seen = a.seen;
  if (a.is_range()) seen = row_seen(history_, i, key);
  if (seen != kNone && !history_.version_value(seen).is_null()) {
    const auto by_version = [](const State& x, const State& y) { return x.version < y.version; };
    const auto [from, to] =
        std::equal_range(written_[key].begin(), written_[key].end(), State{seen}, by_version);
    return {from, to};
  }
  const bool absent = seen != kNone || a.accepts == Accepts::absent ||
                      (a.is_range() && history_.selected(i).predicate == kNone);
  return absent ? absent_[key] : written_[key];
}

bool Sources::explained_by_anybody(OpId op, KeyId key) const {
  const OpId own = own_write_before(history_, op, key);
  if (own != kNone) return explained_by(own, op, key);
  if (explains(initial_state(history_, key), op, key)) return true;
  const TxnId reader = history_.txn_of(op);
  const std::span<const State> others = candidates(op, key);
  return std::any_of(others.begin(), others.end(), [&](const State& state) {
    return state.writer != reader && explains(state, op, key);
  });
}

bool Sources::left_by_nobody(OpId op, KeyId key) const {
  if (op >= history_.op_count() || key >= history_.key_count() || !sees(op, key)) return false;
  if (own_write_before(history_, op, key) != kNone) return false;
  const Result<std::vector<TxnId>> all = of(op, key, false);
  return all.ok() && all->empty();
}

bool Sources::possible(OpId op, KeyId key, TxnId source) const {
  return op < history_.op_count() && key < history_.key_count() && sees(op, key) &&
         own_write_before(history_, op, key) == kNone && source != history_.txn_of(op) &&
         possible_of_others(op, key, source);
}

bool Sources::possible_of_others(OpId op, KeyId key, TxnId source) const {
  if (holds_list_[key]) return false;
  if (source == kNone) return explains(initial_state(history_, key), op, key);
  const State* state = left_by_writer(source, key);
  return state != nullptr && explains(*state, op, key);
}

bool Sources::stays(const State& state, KeyId key) const {
  const State* left = left_by_writer(state.writer, key);
  return left != nullptr && left->version == state.version && left->removed == state.removed;
}

// Null if the transaction left nothing of the key.
const State* Sources::left_by_writer(TxnId writer, KeyId key) const {
  const std::vector<State>& left = left_[key];  // ascending by writer
  const auto state = std::ranges::lower_bound(left, writer, {}, &State::writer);
  return state != left.end() && state->writer == writer ? &*state : nullptr;
}

}  // namespace assay::internal::certify
