#include "certify/conditions.h"

#include <algorithm>

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

// Whether only deletes installed the version.
bool Conditions::is_tombstone(VersionId version) const {
  if (tombstone_.empty()) {
    tombstone_.resize(history_.version_count());
    std::vector<bool> row(history_.version_count());
    for (const Access& a : all_accesses(history_)) {
      if (!a.writes()) continue;
      row[a.version] = row[a.version] || !a.removes();
      tombstone_[a.version] = !row[a.version] && !history_.is_initial(a.version);
    }
  }
  return tombstone_[version];
}

Match Conditions::match_initial(PredicateId predicate) const {
  if (history_.initial().is_null()) return Match::no;
  if (predicate == kNone) return Match::yes;
  return match_of(history_.predicates().condition(predicate), history_.initial());
}

Match Conditions::match(PredicateId predicate, const State& state) const {
  if (state.removed) return Match::no;
  if (state.version == kNone) return match_initial(predicate);
  if (state.version == kUnnamed) return predicate == kNone ? Match::yes : Match::open;
  return match(predicate, state.version);
}

// Without a condition a row may be returned as absent.
bool Conditions::agrees(PredicateId predicate, const Named& named, const State& state) const {
  if (named.row == kNone) return match(predicate, state) != Match::no;
  if (!shows(history_, state, named.row)) return false;
  if (named.selected && predicate == kNone) return true;
  return match(predicate, named.row) != (named.selected ? Match::no : Match::yes);
}

bool Conditions::differ(OpId range, const State& a, const State& b) const {
  const PredicateId predicate = history_.selected(range).predicate;
  const Match of_a = match_by_index(predicate, a), of_b = match_by_index(predicate, b);
  return of_a != of_b && of_a != Match::open && of_b != Match::open;
}

size_t Conditions::first_change(OpId range, KeyId key, const State& seen,
                                std::span<const State> states) const {
  const Selected selected = history_.selected(range);
  const PredicateId predicate = selected.predicate;
  Match was = match_by_index(predicate, seen);
  if (was == Match::open)
    was = std::ranges::count(selected.matched, key) > 0 ? Match::yes : Match::no;
  const auto changes = [&](const State& held) {
    const Match is = match_by_index(predicate, held);
    return is != was && is != Match::open;
  };
  return static_cast<size_t>(std::find_if(states.begin(), states.end(), changes) - states.begin());
}

size_t Conditions::last_change(OpId range, const State& initial,
                               std::span<const State> states) const {
  const PredicateId predicate = history_.selected(range).predicate;
  const auto match_at = [&](size_t at) {
    return match_by_index(predicate, at == 0 ? initial : states[at - 1]);
  };
  const Match was = match_at(states.size());
  for (size_t at = states.size(); was != Match::open && at > 0; --at) {
    const Match before = match_at(at - 1);
    if (before != was) return before == Match::open ? states.size() : at - 1;
  }
  return states.size();
}

bool Conditions::certainly_misses(PredicateId predicate, const State& state) const {
  if (predicate == kNone || state.version >= history_.version_count()) return false;
  return state.removed || history_.predicates().match(predicate, state.version) == Match::no;
}

}  // namespace assay::internal::certify
