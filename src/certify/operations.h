// The verifier's reading of operations: which keys each one observes, and which versions it
// installs there. Everything else in the room works on this. The engine and the oracle have
// separate readings, since none may share a fault with another.
//
//   operation              accepts                        installs
//   r(x,1)                 x equals 1                     -
//   cas(x,1,2)             x equals 1                     x = 2
//   cas(x,1,2)! (failed)   x differs from 1               -
//   ins(x,1)               x absent                       x = 1
//   ins(x,1)! (failed)     x present                      -
//   r(l,[1,2])             l is the list [1,2]            -
//   range(a..f,[c:1])      rows: see History::selected    -
//   w(x,1)  d(x)  a(l,1)   anything                       a value, a removal, an element
//
// A state is the contents of a key: left by some transaction, or the initial value. A removed key
// shows null and its tombstone. The stated source of a read is right or means nothing. If the
// reader had written the key, only the reader itself can be right; otherwise only the initial
// state, if the read returned that, or another transaction with a write of the value that was read.
//
//   s1: A { w(x,1) }   s2: B { w(x,1) }   s3: C { r(x,A=1) r(x,B=2) w(x,3) r(x,A=3) }
//   The first read is from A. The second is not from B, which wrote no 2, and the third is C's own:
//   two contradictions.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/history.h"

namespace assay::internal::certify {

// The states of a key on which an operation could have returned its result.
enum class Accepts : uint8_t { any, equals, differs, absent, present, list, rows };
enum class Installs : uint8_t { nothing, value, removal, element };

struct Access {
  OpId op = kNone;
  KeyId key = kNone;  // kNone for rows, which have many keys
  Accepts accepts = Accepts::any;
  VersionId seen = kNone;  // equals, differs; list: the last element, or (key, null)
  Installs installs = Installs::nothing;
  VersionId version = kNone;  // the version that it installs

  bool reads() const { return accepts != Accepts::any; }
  bool writes() const { return installs != Installs::nothing; }
  bool removes() const { return installs == Installs::removal; }
  bool appends() const { return installs == Installs::element; }
  bool is_range() const { return accepts == Accepts::rows; }
  bool is_list() const { return accepts == Accepts::list || appends(); }
};

inline Access access_of(const History& h, OpId i) {
  const Operation op = h.op(i);
  Access a{i, op.key};
  switch (op.kind) {
    case OpKind::read:
      a.accepts = Accepts::equals;
      a.seen = op.version;
      return a;
    case OpKind::read_list:
      a.accepts = Accepts::list;
      a.seen = op.version;
      return a;
    case OpKind::range:
      a.accepts = Accepts::rows;
      a.key = kNone;
      return a;
    case OpKind::cas:
      a.accepts = op.effect ? Accepts::equals : Accepts::differs;
      a.seen = h.operands(i)[0];
      break;
    case OpKind::insert:
      a.accepts = op.effect ? Accepts::absent : Accepts::present;
      break;
    case OpKind::write:
    case OpKind::remove:
    case OpKind::append:
      break;
  }
  if (!op.effect) return a;
  a.installs = op.kind == OpKind::remove   ? Installs::removal
               : op.kind == OpKind::append ? Installs::element
                                           : Installs::value;
  a.version = op.version;
  return a;
}

// Operations that are adjacent in the history, in program order.
class Accesses {
 public:
  Accesses(const History& history, OpId first, OpId end)
      : history_(history), first_(first), end_(end) {}

  class Iterator {
   public:
    Iterator(const History& history, OpId at) : history_(history), at_(at) {}
    Access operator*() const { return access_of(history_, at_); }
    Iterator& operator++() { return ++at_, *this; }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const History& history_;
    OpId at_;
  };
  Iterator begin() const { return {history_, first_}; }
  Iterator end() const { return {history_, end_}; }

 private:
  const History& history_;
  const OpId first_, end_;
};
// The accesses of a transaction, of the whole history, and of the same transaction before an
// operation.
inline Accesses accesses(const History& h, TxnId t) { return {h, h.first_op(t), h.end_op(t)}; }
inline Accesses all_accesses(const History& h) { return {h, 0, h.op_count()}; }
inline Accesses accesses_before(const History& h, OpId i) {
  return {h, h.first_op(h.txn_of(i)), i};
}

// --- states of a key

// The version of a state that no operation names: a list, or one of many values.
inline constexpr VersionId kUnnamed = kNone - 1;

struct State {
  VersionId version = kNone;  // kNone: the initial value of every key
  bool removed = false;
  TxnId writer = kInitialTxn;
  friend auto operator<=>(const State&, const State&) = default;
};

inline State initial_state(const History& h, KeyId key) { return {h.own_initial(key)}; }
inline State state_after(TxnId t, const Access& write) {
  return {write.version, write.removes(), t};
}

// Whether a read of the key in this state may return the version.
inline bool shows(const History& h, const State& state, VersionId version) {
  if (state.version == version) return true;
  if (state.version == kNone) return h.is_initial(version);
  return state.removed && h.version_value(version).is_null();
}
inline bool is_absent(const History& h, const State& state) {
  if (state.version == kNone) return h.initial().is_null();
  if (state.version == kUnnamed) return false;
  return state.removed || h.version_value(state.version).is_null();
}

// Whether an operation on one key, which does not hold a list, accepts a state, given whether the
// state shows the version that was read and whether it is absent.
template <class Shown, class Absent>
bool accepts(Accepts accepted, Shown shown, Absent absent) {
  switch (accepted) {
    case Accepts::any:
      return true;
    case Accepts::equals:
      return shown();
    case Accepts::differs:
      return !shown();
    case Accepts::absent:
      return absent();
    case Accepts::present:
      return !absent();
    case Accepts::list:
    case Accepts::rows:
      break;
  }
  return false;
}
inline bool accepts(const History& h, const Access& a, const State& state) {
  return accepts(
      a.accepts, [&] { return shows(h, state, a.seen); }, [&] { return is_absent(h, state); });
}

// The last write of the key among the operations from `first` to before `end`; kNone if there is
// none.
OpId last_write(const History& h, OpId first, OpId end, KeyId key);
// The last write of the key in the transaction of `op` before `op`; kNone if there is none.
OpId own_write_before(const History& h, OpId op, KeyId key);
// The state in which a transaction that writes the key leaves it.
State left_by(const History& h, TxnId t, KeyId key);
// Whether the transaction writes the key again after this write.
bool is_overwritten(const History& h, OpId write);

// --- lists and ranges

// A list that was read: what others had appended, then the reading transaction's own elements so
// far.
struct ListSeen {
  std::span<const VersionId> others;
  bool own_at_end = true;  // false: the reader's own elements are not at the end; `others` is empty
};
ListSeen list_seen(const History& h, OpId op);
// The elements that a transaction appends to a list.
std::vector<VersionId> appended_by(const History& h, TxnId t, KeyId list);

// What a range says about a named key: it returned this row, or skipped it, or the key matched and
// its row is not given.
struct Named {
  KeyId key = kNone;
  VersionId row = kNone;
  bool selected = true;
};
template <class Visit>
void each_named(const History& h, OpId range, Visit visit) {
  const Selected selected = h.selected(range);
  for (const VersionId row : selected.rows) visit(Named{h.version_key(row), row});
  for (const VersionId row : selected.passed) visit(Named{h.version_key(row), row, false});
  for (const KeyId key : selected.matched) visit(Named{key});
}
// The keys that a range names.
std::vector<KeyId> named_keys(const History& h, OpId range);
// Whether a range returned a row of the key.
bool returns(const History& h, OpId range, KeyId key);
// Whether the operation depends on the version of the key, not only on whether a range selects the
// key.
inline bool is_item(const History& h, OpId op, KeyId key) {
  return !access_of(h, op).is_range() || returns(h, op, key);
}
// The row of the key that a range saw, returned or skipped; kNone if none.
VersionId row_seen(const History& h, OpId range, KeyId key);
// Whether the key is within the bounds of the range.
bool covers(const History& h, OpId range, KeyId key);
// Whether the transaction is one operation on one key.
inline bool is_one_operation(const History& h, TxnId t) {
  return h.end_op(t) == h.first_op(t) + 1 && !access_of(h, h.first_op(t)).is_range();
}
// Whether some transaction that may have taken effect has a range.
bool has_ranges(const History& h);

// --- stated sources

// The stated source of a read whose transaction had not written the key: a transaction, or
// kInitialTxn. kNone if none is stated, or the statement contradicts the read.
TxnId stated_to_be_from(const History& h, OpId read);
// Whether the stated source of the operation allows that it saw this state.
inline bool may_be_from(const History& h, const State& state, OpId op) {
  if (h.stated_source(op) == kNone) return true;
  const TxnId stated = stated_to_be_from(h, op);
  return stated == kNone || stated == state.writer;
}
// Whether the transaction may have taken effect, and its last write of the key is what the read
// returned.
bool left_behind(const History& h, TxnId writer, OpId read);
// Returns an empty text if no read of a transaction that may have taken effect contradicts its
// stated source.
std::string source_contradiction(const History& h);

}  // namespace assay::internal::certify
