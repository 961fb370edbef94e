#include "oracle/enumerate.h"

#include <algorithm>
#include <numeric>

namespace assay::internal::oracle {
namespace {

constexpr int kInitialSource = -1;

struct ShapeOp {
  bool read = false;
  int key = 0;
  int source = kInitialSource;  // for a read: index of the write it returns
};

// The operations of all transactions, one after another.
struct Shape {
  std::vector<int> session;   // per transaction; those of one session are adjacent
  std::vector<int> first_op;  // per transaction, and the end
  std::vector<ShapeOp> ops;

  int txns() const { return static_cast<int>(session.size()); }
  int txn_of(int op) const {
    int t = 0;
    while (first_op[t + 1] <= op) ++t;
    return t;
  }
};

class Enumerator {
 public:
  Enumerator(const Bounds& bounds, const std::function<bool(const Draft&)>& visit)
      : bounds_(bounds), visit_(visit) {}

  uint64_t run() {
    const int most_txns = std::min(bounds_.sessions * bounds_.txns, bounds_.total_txns);
    for (int ops = 1; ops <= std::min(bounds_.total_ops, most_txns * bounds_.ops); ++ops) {
      for (int txns = 1; txns <= std::min(ops, most_txns) && !stopped_; ++txns) {
        shape_ = {};
        shape_.ops.resize(static_cast<size_t>(ops));
        choose_sessions(txns, bounds_.txns, 0);
      }
    }
    return visited_;
  }

 private:
  // The numbers of transactions per session do not increase. (All recursions here are as deep as
  // the history has parts.)
  void choose_sessions(int left, int most, int session) {
    if (left == 0) {
      shape_.first_op = {0};
      choose_sizes(0);
      return;
    }
    if (session == bounds_.sessions) return;
    for (int n = std::min(left, most); n >= 1; --n) {
      shape_.session.insert(shape_.session.end(), static_cast<size_t>(n), session);
      choose_sessions(left - n, n, session + 1);
      shape_.session.resize(shape_.session.size() - static_cast<size_t>(n));
    }
  }

  void choose_sizes(int txn) {
    const int done = shape_.first_op.back();
    const int all = static_cast<int>(shape_.ops.size());
    if (txn == shape_.txns()) {
      if (done == all) choose_op(0, 0);
      return;
    }
    for (int n = 1; n <= std::min(bounds_.ops, all - done); ++n) {
      shape_.first_op.push_back(done + n);
      choose_sizes(txn + 1);
      shape_.first_op.pop_back();
    }
  }

  // Keys are named in the order of appearance.
  void choose_op(int op, int keys) {
    if (stopped_) return;
    if (op == static_cast<int>(shape_.ops.size())) {
      choose_source(0);
      return;
    }
    for (int key = 0; key <= std::min(keys, bounds_.keys - 1); ++key) {
      for (const bool read : {false, true}) {
        shape_.ops[op] = {read, key, kInitialSource};
        choose_op(op + 1, std::max(keys, key + 1));
      }
    }
  }

  void choose_source(int op) {
    if (stopped_) return;
    if (op == static_cast<int>(shape_.ops.size())) {
      if (canonical()) emit();
      return;
    }
    ShapeOp& read = shape_.ops[op];
    if (!read.read) {
      choose_source(op + 1);
      return;
    }
    const int txn = shape_.txn_of(op);
    if (const int own = last_write(txn, op, read.key); own >= 0) {
      read.source = own;
      choose_source(op + 1);
      return;
    }
    read.source = kInitialSource;
    choose_source(op + 1);
    for (int t = 0; t < shape_.txns(); ++t) {
      const int write = last_write(t, shape_.first_op[t + 1], read.key);
      if (t == txn || write < 0) continue;
      shape_.ops[op].source = write;
      choose_source(op + 1);
    }
  }

  // Returns the last write of the key in transaction t before operation `end`; -1 if there is none.
  int last_write(int t, int end, int key) const {
    for (int i = end - 1; i >= shape_.first_op[t]; --i) {
      if (!shape_.ops[i].read && shape_.ops[i].key == key) return i;
    }
    return -1;
  }

  // Returns the operation numbers if the sessions are in this order.
  std::vector<int> listing(const std::vector<int>& sessions) const {
    std::vector<int> list;
    for (const int s : sessions) {
      for (int t = 0; t < shape_.txns(); ++t) {
        if (shape_.session[t] != s) continue;
        for (int i = shape_.first_op[t]; i < shape_.first_op[t + 1]; ++i) list.push_back(i);
      }
    }
    return list;
  }

  // Returns the history as numbers, with keys named in the order of appearance. They are equal for
  // histories that differ only in names.
  std::vector<int> code(const std::vector<int>& sessions) const {
    const std::vector<int> list = listing(sessions);
    std::vector<int> at(list.size()), key_name(shape_.ops.size(), -1), result;
    for (size_t i = 0; i < list.size(); ++i) at[list[i]] = static_cast<int>(i);
    int keys = 0, last_txn = -1, last_session = -1;
    for (const int i : list) {
      const int t = shape_.txn_of(i);
      const ShapeOp& op = shape_.ops[i];
      if (key_name[op.key] < 0) key_name[op.key] = keys++;
      const int border = shape_.session[t] != last_session ? 2 : t != last_txn ? 1 : 0;
      const int source = op.source == kInitialSource ? -1 : at[op.source];
      result.insert(result.end(), {border, op.read, key_name[op.key], source});
      last_txn = t;
      last_session = shape_.session[t];
    }
    return result;
  }

  bool canonical() const {
    std::vector<int> sessions(static_cast<size_t>(shape_.session.back() + 1));
    std::iota(sessions.begin(), sessions.end(), 0);
    const std::vector<int> mine = code(sessions);
    while (std::next_permutation(sessions.begin(), sessions.end())) {
      if (code(sessions) < mine) return false;
    }
    return true;
  }

  void emit() {
    Draft draft;
    draft.txns.resize(shape_.session.size());
    for (int t = 0; t < shape_.txns(); ++t) {
      draft.txns[t].session = shape_.session[t];
      for (int i = shape_.first_op[t]; i < shape_.first_op[t + 1]; ++i) {
        const ShapeOp& op = shape_.ops[i];
        DraftValue value = int64_t{i + 1};
        if (op.read) value = op.source == kInitialSource ? DraftValue{} : int64_t{op.source + 1};
        draft.txns[t].ops.push_back(
            {.kind = op.read ? OpKind::read : OpKind::write, .key = op.key, .value = value});
      }
    }
    if (bounds_.ordered) {
      emit_ordered(draft, 0);
    } else {
      emit_with_times(draft);
    }
  }

  // For a key with one writer there is nothing to state; the last write of a transaction counts.
  void emit_ordered(Draft& draft, int key) {
    if (stopped_) return;
    if (key == bounds_.keys) {
      emit_with_times(draft);
      return;
    }
    std::vector<int64_t> values;
    for (int t = 0; t < shape_.txns(); ++t) {
      const int write = last_write(t, shape_.first_op[t + 1], key);
      if (write >= 0) values.push_back(write + 1);
    }
    if (values.size() < 2) {
      emit_ordered(draft, key + 1);
      return;
    }
    do {
      draft.orders.push_back({.key = key, .values = values});
      emit_ordered(draft, key + 1);
      draft.orders.pop_back();
    } while (std::next_permutation(values.begin(), values.end()));
  }

  void emit_with_times(Draft& draft) {
    if (bounds_.timed) {
      emit_timed(draft, 0, 0, -1);
      return;
    }
    ++visited_;
    stopped_ = !visit_(draft);
  }

  // Chooses the next event: the begin of a transaction whose session is idle, or the end of a
  // running one. It is later than the last event, or at the same time; simultaneous events are
  // listed by number, so each combination is made once.
  void emit_timed(Draft& draft, int events, int64_t now, int last) {
    if (stopped_) return;
    if (events == 2 * shape_.txns()) {
      ++visited_;
      stopped_ = !visit_(draft);
      return;
    }
    for (int t = 0; t < shape_.txns(); ++t) {
      DraftTxn& txn = draft.txns[t];
      const bool idle =
          t == 0 || shape_.session[t - 1] != shape_.session[t] || draft.txns[t - 1].end.known();
      if (txn.end.known() || !idle) continue;
      const int event = 2 * t + (txn.begin.known() ? 1 : 0);
      Interval& next = txn.begin.known() ? txn.end : txn.begin;
      if (bounds_.equal_times && event > last && last >= 0) {
        next = Interval::point(now);
        emit_timed(draft, events + 1, now, event);
      }
      const int64_t later = last < 0 ? now : now + 1;
      next = Interval::point(later);
      emit_timed(draft, events + 1, later, event);
      next = {};
    }
  }

  const Bounds bounds_;
  const std::function<bool(const Draft&)>& visit_;
  Shape shape_;
  uint64_t visited_ = 0;
  bool stopped_ = false;
};

}  // namespace

uint64_t enumerate(const Bounds& bounds, const std::function<bool(const Draft&)>& visit) {
  return Enumerator(bounds, visit).run();
}

}  // namespace assay::internal::oracle
