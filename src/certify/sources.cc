#include "certify/sources.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "certify/reads.h"
#include "certify/refusal.h"
#include "certify/stated_sources.h"
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
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i)
      if (const Operation op = history.op(i); op.kind != OpKind::range && writes(op))
        written_[op.key].push_back({t, op.version, op.kind == OpKind::remove});
    if (history.status(t) == TxnStatus::aborted) continue;
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
      const Operation op = history.op(i);
      if (op.kind == OpKind::range) {
        for (const KeyId key : named_keys(history, i)) touched_[key] = true;
        continue;
      }
      touched_[op.key] = true;
      if (op.kind == OpKind::append || op.kind == OpKind::read_list) holds_list_[op.key] = true;
      if (!writes(op)) continue;
      if (left_[op.key].empty() || left_[op.key].back().writer != t) left_[op.key].push_back({});
      left_[op.key].back() = {t, op.version, op.kind == OpKind::remove};
    }
  }
  for (KeyId k = 0; k < history.key_count(); ++k) {
    std::sort(written_[k].begin(), written_[k].end(),
              [](const State& a, const State& b) { return a.version < b.version; });
    std::copy_if(written_[k].begin(), written_[k].end(), std::back_inserter(absent_[k]),
                 [this](const State& state) { return is_absent(state); });
    if (history.own_initial(k) != kNone && !history.initial(k).is_null()) touched_[k] = true;
    if (touched_[k]) sorted_.push_back(k);
  }
  sort_keys(history, sorted_);
}

bool Sources::covers(OpId range, KeyId key) const {
  const auto operands = history_.operands(range);
  const ValueView name = history_.key(key);
  return (operands[0] == kNone || !key_less(name, history_.key(operands[0]))) &&
         (operands[1] == kNone || !key_less(history_.key(operands[1]), name));
}

bool Sources::explained_by(OpId own, OpId op, KeyId key) const {
  const Operation write = history_.op(own);
  return explains({history_.txn_of(own), write.version, write.kind == OpKind::remove}, op, key);
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
  const Operation op = history_.op(i);
  switch (op.kind) {
    case OpKind::read:
    case OpKind::cas:
    case OpKind::insert:
      return op.key == key;
    case OpKind::range: {
      const Selected selected = history_.selected(i);
      const std::vector<KeyId> named = named_keys(history_, i);
      return std::find(named.begin(), named.end(), key) != named.end() ||
             (selected.complete && touched_[key] && covers(i, key) &&
              may_satisfy(selected.predicate, key));
    }
    default:
      return false;
  }
}

bool Sources::returns(const State& state, VersionId version) const {
  if (state.writer == kNone) return history_.is_initial(version);
  return state.version == version || (state.removed && history_.version_value(version).is_null());
}

// Whether the read may be of this state by what the history states of it.
bool Sources::is_stated(const State& state, OpId read) const {
  if (!history_.states_sources()) return true;
  const TxnId stated = stated_to_be_from(history_, read);
  return stated == kNone || stated == (state.writer == kNone ? kInitialTxn : state.writer);
}

bool Sources::is_absent(const State& state) const {
  if (state.version == kNone) return history_.initial().is_null();
  return state.removed || history_.version_value(state.version).is_null();
}

bool Sources::explains(const State& state, OpId i, KeyId key) const {
  const Operation op = history_.op(i);
  if (op.kind == OpKind::read) return returns(state, op.version) && is_stated(state, i);
  if (op.kind == OpKind::cas) return returns(state, history_.operands(i)[0]) == op.effect;
  if (op.kind == OpKind::insert) return is_absent(state) == op.effect;
  if (op.kind != OpKind::range) return false;
  return range_explained(state, i, key);
}

Match Sources::match(PredicateId predicate, const State& state) const {
  if (is_absent(state)) return Match::no;
  if (state.version == kNone) return conditions_.match_initial(predicate);
  return conditions_.match(predicate, state.version);
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
    right = returns(state, row) &&
            (predicate == kNone || conditions_.match(predicate, row) != Match::no);
  }
  for (const VersionId row : selected.passed) {
    if (history_.version_key(row) != key) continue;
    ++named;
    right = returns(state, row) && conditions_.match(predicate, row) != Match::yes;
  }
  for (const KeyId one : selected.matched) {
    if (one != key) continue;
    ++named;
    right = match(predicate, state) != Match::no;
  }
  if (named > 0) return named == 1 && right && covers(range, key);
  return conditions_.certainly_misses(predicate, {state.version, state.removed}) ||
         match(predicate, state) != Match::yes;
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
    const Operation o = history_.op(i);
    if (o.kind != OpKind::range && o.key == key && writes(o))
      own = State{reader, o.version, o.kind == OpKind::remove};
  }
  const auto fits = [&](const State& state) {
    return std::all_of(together.begin(), together.end(),
                       [&](OpId i) { return explains(state, i, key); });
  };
  std::vector<TxnId> found;
  for (const State& state : left_[key])
    if (state.writer != reader && fits(state)) found.push_back(state.writer);
  if (fits(initially(key))) found.push_back(kNone);
  return found;
}

// The last write of the key before `i` in its own transaction; kNone if there is none.
OpId Sources::own_write_before(OpId i, KeyId key) const {
  for (OpId own = i; own-- > history_.first_op(history_.txn_of(i));)
    if (writes(history_.op(own)) && history_.op(own).key == key) return own;
  return kNone;
}

// What anybody wrote of the key that may explain the operation: all that does, and perhaps more.
std::span<const Sources::State> Sources::candidates(OpId i, KeyId key) const {
  const Operation op = history_.op(i);
  const std::vector<State>& all = written_[key];
  std::optional<VersionId> seen;  // that the key held
  if (op.kind == OpKind::read) seen = op.version;
  if (op.kind == OpKind::cas && op.effect) seen = history_.operands(i)[0];
  if (op.kind == OpKind::range) {
    const Selected selected = history_.selected(i);
    for (const auto& rows : {selected.rows, selected.passed})
      for (const VersionId row : rows)
        if (history_.version_key(row) == key) seen = row;
  }
  if (seen && !history_.version_value(*seen).is_null()) {
    const auto by_version = [](const State& a, const State& b) { return a.version < b.version; };
    const auto [from, to] =
        std::equal_range(all.begin(), all.end(), State{kNone, *seen}, by_version);
    return {from, to};
  }
  const bool absent = seen ||
                      (op.kind == OpKind::range && history_.selected(i).predicate == kNone) ||
                      (op.kind == OpKind::insert && op.effect);
  return absent ? absent_[key] : all;
}

bool Sources::explained_by_anybody(OpId op, KeyId key) const {
  const OpId own = own_write_before(op, key);
  if (own != kNone) return explained_by(own, op, key);
  if (explains(initially(key), op, key)) return true;
  const TxnId reader = history_.txn_of(op);
  const std::span<const State> others = candidates(op, key);
  return std::any_of(others.begin(), others.end(), [&](const State& state) {
    return state.writer != reader && explains(state, op, key);
  });
}

bool Sources::left_by_nobody(OpId op, KeyId key) const {
  if (op >= history_.op_count() || key >= history_.key_count() || !sees(op, key)) return false;
  if (own_write_before(op, key) != kNone) return false;
  const Result<std::vector<TxnId>> all = of(op, key, false);
  return all.ok() && all->empty();
}

bool Sources::possible(OpId op, KeyId key, TxnId source) const {
  return op < history_.op_count() && key < history_.key_count() && sees(op, key) &&
         own_write_before(op, key) == kNone && source != history_.txn_of(op) &&
         possible_of_others(op, key, source);
}

bool Sources::possible_of_others(OpId op, KeyId key, TxnId source) const {
  if (holds_list_[key]) return false;
  if (source == kNone) return explains(initially(key), op, key);
  const State* state = left_by_writer(source, key);
  return state != nullptr && explains(*state, op, key);
}

bool Sources::stays(const State& state, KeyId key) const {
  const State* left = left_by_writer(state.writer, key);
  return left != nullptr && left->version == state.version && left->removed == state.removed;
}

// Null if the transaction left nothing of the key.
const Sources::State* Sources::left_by_writer(TxnId writer, KeyId key) const {
  const std::vector<State>& left = left_[key];  // ascending by writer
  const auto state = std::lower_bound(left.begin(), left.end(), writer,
                                      [](const State& s, TxnId t) { return s.writer < t; });
  return state != left.end() && state->writer == writer ? &*state : nullptr;
}

}  // namespace assay::internal::certify
