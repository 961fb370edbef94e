// What one operation on a register says of what its key held, and whether a state of the key bears it out. The chain's verifier
// keeps states beyond the history they come from, so they are values here; lists and ranges have no place in a chain.
//
//   operation              expects                        operation             expects
//   r(x,1)                 x equals 1                     ins(x,1)              x absent
//   cas(x,1,2)             x equals 1                     ins(x,1)! (failed)    x present
//   cas(x,1,2)! (failed)   x differs from 1               w(x,1)  d(x)          -
#pragma once

#include <cstdint>
#include <unordered_set>

#include "assay/history.h"
#include "certify/reads.h"

namespace assay::internal::certify {

// What a register holds.
struct RegisterState {
  ValueView value;
  bool removed = false;  // a removal left it; it reads as null
};

// What a register holds that was never written.
inline RegisterState initial_state(const History& history, KeyId key) {
  return {history.initial(key), false};
}
// What an operation that writes leaves.
inline RegisterState state_after(const History& history, OpId write) {
  const Operation op = history.op(write);
  return {history.version_value(op.version), op.kind == OpKind::remove};
}

struct Expectation {
  enum class Kind : uint8_t { none, equals, differs, absent, present };
  Kind kind = Kind::none;
  OpId op = kNone;
  KeyId key = kNone;
  ValueView value = {};  // equals, differs

  bool looks() const { return kind != Kind::none; }
};

inline Expectation expectation_of(const History& history, OpId i) {
  using Kind = Expectation::Kind;
  const Operation op = history.op(i);
  if (op.kind == OpKind::read) return {Kind::equals, i, op.key, history.version_value(op.version)};
  if (op.kind == OpKind::cas)
    return {op.effect ? Kind::equals : Kind::differs, i, op.key,
            history.version_value(history.operands(i)[0])};
  if (op.kind == OpKind::insert) return {op.effect ? Kind::absent : Kind::present, i, op.key};
  return {Kind::none, i, op.key};
}

// Whether the operation could return what it did while its key held this.
inline bool bears_out(const RegisterState& state, const Expectation& expected) {
  const bool absent = state.removed || state.value.is_null();
  const bool same = expected.value == state.value || (state.removed && expected.value.is_null());
  switch (expected.kind) {
    case Expectation::Kind::none:
      return true;
    case Expectation::Kind::equals:
      return same;
    case Expectation::Kind::differs:
      return !same;
    case Expectation::Kind::absent:
      return absent;
    case Expectation::Kind::present:
      return !absent;
  }
  return false;
}

// Calls visit(Expectation) for each look of the transaction at what others left.
template <class Visit>
void each_outside_look(const History& history, TxnId t, Visit visit) {
  std::unordered_set<KeyId> own;
  for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
    const Expectation expected = expectation_of(history, i);
    if (expected.looks() && !own.contains(expected.key)) visit(expected);
    if (writes(history.op(i))) own.insert(expected.key);
  }
}

// A chain says nothing of these.
inline bool is_about_lists_or_ranges(const Operation& op) {
  return op.kind == OpKind::append || op.kind == OpKind::read_list || op.kind == OpKind::range;
}

}  // namespace assay::internal::certify
