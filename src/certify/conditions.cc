#include "certify/conditions.h"

#include <algorithm>

#include "certify/reads.h"
#include "history/predicates.h"

namespace assay::internal::certify {

Match Conditions::match(PredicateId predicate, VersionId version) const {
  const ValueView value = history_.version_value(version);
  if (value.is_null() || is_tombstone(version)) return Match::no;
  if (predicate == kNone) return Match::yes;
  if (rows_.empty()) rows_.resize(history_.version_count());
  Row& row = rows_[version];
  if (row.empty()) row = row_of(value);
  const Truth truth = history_.predicates().condition(predicate).holds(row);
  if (truth.certainly_true()) return Match::yes;
  return truth.may_be_true() ? Match::open : Match::no;
}

// Only deletes installed it.
bool Conditions::is_tombstone(VersionId version) const {
  if (tombstone_.empty()) {
    tombstone_.resize(history_.version_count());
    std::vector<bool> row(history_.version_count());
    for (OpId i = 0; i < history_.op_count(); ++i) {
      const Operation op = history_.op(i);
      if (!writes(op)) continue;
      row[op.version] = row[op.version] || op.kind != OpKind::remove;
      tombstone_[op.version] = !row[op.version] && !history_.is_initial(op.version);
    }
  }
  return tombstone_[version];
}

Match Conditions::match_initial(PredicateId predicate) const {
  if (history_.initial().is_null()) return Match::no;
  if (predicate == kNone) return Match::yes;
  return match_of(history_.predicates().condition(predicate), history_.initial());
}

Match Conditions::match(PredicateId predicate, const Held& held) const {
  if (held.removed) return Match::no;
  return held.version == kNone ? match_initial(predicate) : match(predicate, held.version);
}

size_t Conditions::first_change(OpId range, const Held& before,
                                std::span<const Held> states) const {
  const PredicateId predicate = history_.selected(range).predicate;
  const Match was = certainly_misses(predicate, before) ? Match::no : match(predicate, before);
  if (was == Match::open) return states.size();
  const auto changes = [&](const Held& held) {
    if (was == Match::no && certainly_misses(predicate, held)) return false;
    const Match is = match(predicate, held);
    return is != was && is != Match::open;
  };
  return static_cast<size_t>(std::find_if(states.begin(), states.end(), changes) - states.begin());
}

size_t Conditions::last_change(OpId range, const Held& initial,
                               std::span<const Held> states) const {
  const PredicateId predicate = history_.selected(range).predicate;
  const auto match_at = [&](size_t at) {
    const Held held = at == 0 ? initial : states[at - 1];
    return certainly_misses(predicate, held) ? Match::no : match(predicate, held);
  };
  const Match was = match_at(states.size());
  for (size_t at = states.size(); was != Match::open && at > 0; --at) {
    const Match before = match_at(at - 1);
    if (before != was) return before == Match::open ? states.size() : at - 1;
  }
  return states.size();
}

bool Conditions::certainly_misses(PredicateId predicate, const Held& held) const {
  if (predicate == kNone || held.version == kNone) return false;
  return held.removed || history_.predicates().match(predicate, held.version) == Match::no;
}

Held left_by(const History& history, TxnId t, KeyId key) {
  OpId i = history.end_op(t);
  do --i;
  while (!writes(history.op(i)) || history.op(i).key != key);
  return {history.op(i).version, history.op(i).kind == OpKind::remove};
}

bool returns(const History& history, OpId range, KeyId key) {
  const std::span<const VersionId> rows = history.selected(range).rows;
  return std::any_of(rows.begin(), rows.end(),
                     [&](VersionId row) { return history.version_key(row) == key; });
}

Held initially(const History& history, KeyId key) { return {history.own_initial(key), false}; }

std::vector<KeyId> named_keys(const History& history, OpId range) {
  const Selected selected = history.selected(range);
  std::vector<KeyId> keys(selected.matched.begin(), selected.matched.end());
  for (const auto& rows : {selected.rows, selected.passed})
    for (const VersionId row : rows) keys.push_back(history.version_key(row));
  return keys;
}

}  // namespace assay::internal::certify
