// Histories for unit tests, written as they read:
//
//   make_history({{1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}})
//
// is session 1 writing x = 1 and session 2 reading it and overwriting it. Transactions are numbered
// in the order given, operations too. Random ones come as a list of transactions, so that a test
// can spoil one before it builds the history.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "base/rng.h"

namespace assay::internal::sample {

using Value = std::optional<int64_t>;  // nullopt: null
inline constexpr std::nullopt_t kNull = std::nullopt;

struct Op {
  OpKind kind = OpKind::read;
  std::string key;
  Value value{};
  Value expected{};
  bool effect = true;
};

struct Txn {
  int64_t session = 0;
  std::vector<Op> ops{};
  TxnStatus status = TxnStatus::committed;
  int64_t begin = Interval::kUnknown;
  int64_t end = Interval::kUnknown;
};

struct Stated {
  std::string key;
  std::vector<int64_t> values{};
};

inline Op r(std::string key, Value value) { return {OpKind::read, std::move(key), value}; }
inline Op w(std::string key, Value value) { return {OpKind::write, std::move(key), value}; }
inline Op d(std::string key, Value tombstone) {
  return {OpKind::remove, std::move(key), tombstone};
}
inline Op cas(std::string key, Value expected, Value value, bool effect) {
  return {OpKind::cas, std::move(key), value, expected, effect};
}
inline Op ins(std::string key, Value value, bool effect) {
  return {OpKind::insert, std::move(key), value, {}, effect};
}

inline ValueView view(const Value& value) {
  return value ? ValueView::of(*value) : ValueView::null();
}

inline void add(HistoryBuilder& builder, const Op& op) {
  const ValueView key = ValueView::of(std::string_view(op.key));
  switch (op.kind) {
    case OpKind::read:
      return builder.read(key, view(op.value));
    case OpKind::write:
      return builder.write(key, view(op.value));
    case OpKind::remove:
      return builder.remove(key, view(op.value));
    case OpKind::cas:
      return builder.cas(key, view(op.expected), view(op.value), op.effect);
    case OpKind::insert:
      return builder.insert(key, view(op.value), op.effect);
    case OpKind::append:
    case OpKind::read_list:
    case OpKind::range:
      throw std::logic_error("no such operation in samples");
  }
}

inline Interval point(int64_t time) {
  return time == Interval::kUnknown ? Interval{} : Interval::point(time);
}

// Throws what the builder has to complain about.
inline History make_history(const std::vector<Txn>& txns, const std::vector<Stated>& stated = {}) {
  HistoryBuilder builder;
  for (const Txn& txn : txns) {
    builder.begin_txn({.session = ValueView::of(txn.session),
                       .status = txn.status,
                       .begin = point(txn.begin),
                       .end = point(txn.end)});
    for (const Op& op : txn.ops) add(builder, op);
    if (auto status = builder.end_txn(); !status.ok()) {
      throw std::logic_error(status.error().to_string());
    }
  }
  for (const Stated& order : stated) {
    std::vector<ValueView> values;
    for (int64_t value : order.values) values.push_back(ValueView::of(value));
    builder.known_order(ValueView::of(std::string_view(order.key)), values);
  }
  Result<History> history = std::move(builder).finish();
  if (!history.ok()) throw std::logic_error(history.error().to_string());
  return std::move(history).value();
}

struct Shape {
  int sessions = 3;
  int txns = 3;  // of each session
  int ops = 3;   // at most, of each transaction; each on a key of its own
  int keys = 3;
};

inline std::string key_name(uint64_t i) { return "k" + std::to_string(i); }

// Which keys a transaction reads, writes, or reads and then writes. Values written are all
// different; what is read is for the caller to say.
inline std::vector<Op> random_ops(Rng& rng, const Shape& shape, int64_t& next_value) {
  std::vector<Op> ops;
  const uint64_t first = rng.below(static_cast<uint64_t>(shape.keys));
  const int count = static_cast<int>(rng.between(1, std::min(shape.ops, shape.keys)));
  for (int i = 0; i < count; ++i) {
    const std::string key =
        key_name((first + static_cast<uint64_t>(i)) % static_cast<uint64_t>(shape.keys));
    const uint64_t kind = rng.below(3);
    if (kind != 1) ops.push_back(r(key, kNull));
    if (kind != 0) ops.push_back(w(key, next_value++));
  }
  return ops;
}

// Reads return anything that another transaction wrote, or nothing: mostly impossible histories.
inline std::vector<Txn> any_reads(Rng& rng, const Shape& shape) {
  std::vector<Txn> txns;
  std::map<std::string, std::vector<int64_t>> written;
  int64_t next_value = 1;
  for (int i = 0; i < shape.txns; ++i) {
    for (int session = 0; session < shape.sessions; ++session) {
      txns.push_back({session, random_ops(rng, shape, next_value)});
      for (const Op& op : txns.back().ops) {
        if (op.kind == OpKind::write) written[op.key].push_back(*op.value);
      }
    }
  }
  for (Txn& txn : txns) {
    for (size_t i = 0; i < txn.ops.size(); ++i) {
      if (txn.ops[i].kind != OpKind::read) continue;
      const std::vector<int64_t>& values = written[txn.ops[i].key];
      const uint64_t pick = rng.below(values.size() + 1);
      if (pick == values.size()) continue;  // the initial value
      const bool updates = i + 1 < txn.ops.size() && txn.ops[i + 1].key == txn.ops[i].key;
      if (updates && txn.ops[i + 1].value == values[pick]) continue;  // its own, later
      txn.ops[i].value = values[pick];
    }
  }
  return txns;
}

// What a database did that gives every transaction a snapshot as of its begin and aborts those
// whose keys were written meanwhile. With `overlap` false one transaction runs at a time. Begin and
// end are all different times; the transactions come in the order of their ends.
inline std::vector<Txn> execute(Rng& rng, const Shape& shape, bool overlap) {
  using State = std::map<std::string, Value>;
  struct Client {
    int left = 0;
    std::optional<Txn> open{};
    State snapshot{};
  };
  State state;
  std::vector<Client> clients(static_cast<size_t>(shape.sessions));
  for (Client& client : clients) client.left = shape.txns;
  std::vector<Txn> done;
  int64_t next_value = 1;
  int64_t now = 0;
  const size_t all = clients.size() * static_cast<size_t>(shape.txns);
  while (done.size() < all) {
    const size_t s = rng.below(clients.size());
    Client& client = clients[s];
    if (client.left == 0) continue;
    if (!client.open) {
      client.open = Txn{static_cast<int64_t>(s), random_ops(rng, shape, next_value)};
      client.open->begin = ++now;
      client.snapshot = state;
      if (overlap) continue;
    }
    Txn& txn = *client.open;
    txn.end = ++now;
    for (Op& op : txn.ops) {
      if (op.kind == OpKind::read) op.value = client.snapshot[op.key];
      if (op.kind == OpKind::write && client.snapshot[op.key] != state[op.key]) {
        txn.status = TxnStatus::aborted;
      }
    }
    if (txn.status == TxnStatus::committed) {
      for (const Op& op : txn.ops) {
        if (op.kind == OpKind::write) state[op.key] = op.value;
      }
    }
    done.push_back(txn);
    client.open.reset();
    --client.left;
  }
  return done;
}

}  // namespace assay::internal::sample
