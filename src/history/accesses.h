// Accesses: an operation's observations, and the versions that it leaves behind (installs).
//
//   operation              observes                       installs
//   r(x,1)                 x equals 1                     -
//   cas(x,1,2)             x equals 1                     x = 2
//   cas(x,1,2)! (failed)   x differs from 1               -
//   ins(x,1)               x absent                       x = 1
//   ins(x,1)! (failed)     x present                      -
//   r(l,[1,2])             l is the list [1,2]            -
//   range(a..f,[c:1])      c equals 1, the rest absent    -
//   p(value<9,[c:1])       c equals 1, the rest miss it   -
//   w(x,1)  a(l,1)  d(x)   -                              x = 1, one more element of l, the absence
//                                                         of x
//
// All of this is local to the transaction: no other transaction is looked at. Which writes may
// explain an observation is decided elsewhere. Cost: an observation or an install takes constant
// time; a transaction is walked in the time of its operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/history.h"
#include "history/predicates.h"

namespace assay::internal {

// What a key holds: the state that a write left, or the initial value.
struct KeyState {
  VersionId version = kNone;  // kNone: the initial value of every key
  bool removed = false;       // a delete left this state
};

// The states of a key that explain what an operation returned.
enum class Accepts : uint8_t {
  any,      // the operation observes nothing
  equals,   // the key held this version
  differs,  // the key held anything else
  absent,
  present,
  matches,  // the key held a row that satisfies a condition, or may satisfy it
  misses,   // the key was absent, or held a row that does not satisfy a condition, or may not
  list,     // the key held a list that ends with the reader's own elements
  rows,     // for each key of a range, its value or that it was absent
  nothing,  // the result contradicts itself
};

struct Observation {
  OpId op = kNone;
  KeyId key = kNone;          // rows: kNone
  VersionId version = kNone;  // equals, differs; list: the last element, or null
  Accepts accepts = Accepts::any;
  PredicateId predicate = kNone;  // matches, misses
  bool own = false;               // its transaction wrote the key before; only set by walk_accesses
};

struct Install {
  OpId op = kNone;
  KeyId key = kNone;
  VersionId version = kNone;
  bool removes = false;  // the version is a tombstone
  bool appends = false;  // the version is an element of a list
  bool final = false;    // no later write of its transaction replaces it; only set by each_install

  KeyState state() const { return {version, removes}; }
};

// Returns what an operation observes; Accepts::any if nothing.
inline Observation observation_of(const History& history, OpId i) {
  const Operation op = history.op(i);
  Observation seen{i, op.key};
  switch (op.kind) {
    case OpKind::read:
      seen.accepts = Accepts::equals;
      seen.version = op.version;
      break;
    case OpKind::cas:
      seen.accepts = op.effect ? Accepts::equals : Accepts::differs;
      seen.version = history.operands(i)[0];
      break;
    case OpKind::insert:
      seen.accepts = op.effect ? Accepts::absent : Accepts::present;
      break;
    case OpKind::read_list:
      seen.accepts = Accepts::list;
      seen.version = op.version;
      break;
    case OpKind::range:
      seen.accepts = Accepts::rows;
      seen.key = kNone;
      break;
    case OpKind::write:
    case OpKind::remove:
    case OpKind::append:
      break;
  }
  return seen;
}

// The elements of a list that was read.
inline std::span<const VersionId> elements_of(const History& history, OpId read_list) {
  return history.operands(read_list);
}
// Returns what a range returned.
inline std::span<const VersionId> rows_of(const History& history, OpId range) {
  return history.selected(range).rows;
}
// Whether a range returned the key.
inline bool returned(const History& history, OpId range, KeyId key) {
  for (const VersionId row : rows_of(history, range))
    if (history.version_key(row) == key) return true;
  return false;
}
// Calls `visit` with each row that a range saw, whether it returned it or passed it over.
template <class Visit>
void each_row(const History& history, OpId range, Visit visit) {
  const Selected selected = history.selected(range);
  for (const VersionId row : selected.rows) visit(row);
  for (const VersionId row : selected.passed) visit(row);
}
// Calls `visit` with each key that a range mentions by name.
template <class Visit>
void each_named_key(const History& history, OpId range, Visit visit) {
  each_row(history, range, [&](VersionId row) { visit(history.version_key(row)); });
  for (const KeyId key : history.selected(range).matched) visit(key);
}
// Both are inclusive; kNone: open.
struct KeyBounds {
  KeyId from, to;
};
inline KeyBounds bounds_of(const History& history, OpId range) {
  const std::span<const uint32_t> operands = history.operands(range);
  return {operands[0], operands[1]};
}

// Returns what an operation installs if it installs anything (installs_version); otherwise the
// result neither removes nor appends.
inline Install install_of(const History& history, OpId i) {
  const Operation op = history.op(i);
  return {i, op.key, op.version, op.kind == OpKind::remove, op.kind == OpKind::append};
}

// Whether the operation treats its key as a list.
inline bool is_list_operation(const Operation& op) {
  return op.kind == OpKind::append || op.kind == OpKind::read_list;
}
// Whether the operation observes a range of keys.
inline bool is_range(const Operation& op) { return op.kind == OpKind::range; }

// Whether the operation is none of: a range, a list, a deletion, a conditional write.
inline bool is_read_or_write(const Operation& op) {
  return op.kind == OpKind::read || op.kind == OpKind::write;
}

// Whether a read that returns the version may have read this state of its key.
inline bool shows(const History& history, const KeyState& state, VersionId version) {
  if (state.version == kNone) return history.is_initial(version);
  return state.version == version || (state.removed && history.version_value(version).is_null());
}

// The state of a key before any write: an initial value is a version like any other.
inline KeyState initial_state(const History& history, KeyId key) {
  return {history.own_initial(key), false};
}

inline bool is_absent(const History& history, const KeyState& state) {
  if (state.version == kNone) return history.initial().is_null();
  return state.removed || history.version_value(state.version).is_null();
}

// The state in which a transaction leaves a key that it writes.
inline KeyState state_left_by(const History& history, TxnId t, KeyId key) {
  OpId i = history.end_op(t);
  do --i;
  while (!installs_version(history.op(i)) || history.op(i).key != key);
  return install_of(history, i).state();
}

// Whether what the key holds satisfies a condition; without a condition, whether it holds anything.
inline Match match_of_state(const History& history, const KeyState& state, PredicateId predicate) {
  if (predicate == kNone) return is_absent(history, state) ? Match::no : Match::yes;
  if (state.removed) return Match::no;
  if (state.version == kNone) return history.predicates().match_initial(predicate);
  return history.predicates().match(predicate, state.version);
}

// Whether the state explains the observation of its key. Not for lists and rows.
inline bool fits(const History& history, const Observation& seen, const KeyState& state) {
  switch (seen.accepts) {
    case Accepts::any:
      return true;
    case Accepts::equals:
      return shows(history, state, seen.version);
    case Accepts::differs:
      return !shows(history, state, seen.version);
    case Accepts::absent:
      return is_absent(history, state);
    case Accepts::present:
      return !is_absent(history, state);
    case Accepts::matches:
      return match_of_state(history, state, seen.predicate) != Match::no;
    case Accepts::misses:
      return match_of_state(history, state, seen.predicate) != Match::yes;
    case Accepts::list:
    case Accepts::rows:
    case Accepts::nothing:
      break;
  }
  return false;
}

// The same for a key that holds a value which may come from elsewhere; removed: a delete left the
// key. Not for lists, rows and conditions.
inline bool fits(const History& history, const Observation& seen, const ValueView& value,
                 bool removed) {
  const auto shown = [&] {
    const ValueView expected = history.version_value(seen.version);
    return value == expected || (removed && expected.is_null());
  };
  const bool absent = removed || value.is_null();
  switch (seen.accepts) {
    case Accepts::any:
      return true;
    case Accepts::equals:
      return shown();
    case Accepts::differs:
      return !shown();
    case Accepts::absent:
      return absent;
    case Accepts::present:
      return !absent;
    default:
      return false;
  }
}

// A range's observations of those of `keys` that are within its bounds and of the keys that it
// names, by key: a key that was not returned is absent or does not satisfy the condition. The
// result contradicts itself if a key is outside the bounds or named twice, or if a returned or
// skipped row contradicts the condition.
std::vector<Observation> observations_of_range(const History& history, OpId range,
                                               std::span<const KeyId> keys);

// The elements of a list that was read, without those at its end that the reader itself had
// appended.
struct OutsideList {
  std::span<const VersionId> elements;
  OpId missing = kNone;  // an append of the reader whose element is missing: nothing explains that
};
OutsideList outside_list(const History& history, OpId read_list);

// The keys that a transaction has written so far. A small open hash table that stays in the
// first-level cache; an array over all keys would miss on every operation.
class WrittenKeys {
 public:
  // Forgets everything and makes room for this many keys, which must not be exceeded.
  void start(uint32_t keys) {
    size_t slots = 16;
    while (slots < 2 * size_t{keys}) slots *= 2;
    slots_.assign(slots, kNone);
  }
  bool contains(KeyId key) const { return slots_[slot(key)] == key; }
  // Returns false if the key was in the set already.
  bool insert(KeyId key) {
    KeyId& at = slots_[slot(key)];
    if (at == key) return false;
    at = key;
    return true;
  }

 private:
  size_t slot(KeyId key) const {
    const size_t mask = slots_.size() - 1;
    size_t i = (key * 0x9E3779B1u) & mask;
    while (slots_[i] != kNone && slots_[i] != key) i = (i + 1) & mask;
    return i;
  }

  std::vector<KeyId> slots_;
};

// Goes through the operations of a transaction in program order and calls look(Observation), then
// put(Install) for each of an operation's accesses. `written` is scratch space; during the walk it
// holds the keys written so far.
template <class Look, class Put>
void walk_accesses(const History& history, TxnId t, WrittenKeys& written, Look look, Put put) {
  const OpId end = history.end_op(t);
  written.start(end - history.first_op(t));
  for (OpId i = history.first_op(t); i < end; ++i) {
    Observation seen = observation_of(history, i);
    if (seen.accepts != Accepts::any) {
      seen.own = seen.key != kNone && written.contains(seen.key);
      look(seen);
    }
    if (!installs_version(history.op(i))) continue;
    const Install install = install_of(history, i);
    put(install);
    written.insert(install.key);
  }
}

// Calls `put` with what a transaction installs, the last first: of each key the first one given is
// final.
template <class Put>
void each_install(const History& history, TxnId t, WrittenKeys& written, Put put) {
  const OpId first = history.first_op(t);
  written.start(history.end_op(t) - first);
  for (OpId i = history.end_op(t); i-- > first;) {
    if (!installs_version(history.op(i))) continue;
    Install install = install_of(history, i);
    install.final = written.insert(install.key);
    put(install);
  }
}

}  // namespace assay::internal
