// Histories for unit tests, written as they read:
//
//   make_history({{1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}})
//
// is session 1 writing x = 1 and session 2 reading and overwriting that. Transactions and
// operations are numbered in the order given. Random ones: oracle/random_history.h.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "assay/history.h"

namespace assay::internal::sample {

using Value = std::optional<int64_t>;  // nullopt: null
inline constexpr std::nullopt_t kNull = std::nullopt;
inline constexpr TxnStatus kCommitted = TxnStatus::committed;
inline constexpr TxnStatus kAborted = TxnStatus::aborted;
inline constexpr TxnStatus kUnknown = TxnStatus::unknown;

inline ValueView v(int64_t i) { return ValueView::of(i); }
inline ValueView v(std::string_view s) { return ValueView::of(s); }

struct SampleOp {
  OpKind kind = OpKind::read;
  std::string key;
  Value value{};
  Value expected{};
  bool effect = true;
};

struct Txn {
  int64_t session = 0;
  std::vector<SampleOp> ops{};
  TxnStatus status = TxnStatus::committed;
  int64_t begin = Interval::kUnknown;
  int64_t end = Interval::kUnknown;
};

struct Stated {
  std::string key;
  std::vector<int64_t> values{};
};

inline SampleOp r(std::string key, Value value) { return {OpKind::read, std::move(key), value}; }
inline SampleOp w(std::string key, Value value) { return {OpKind::write, std::move(key), value}; }
inline SampleOp d(std::string key, Value tombstone) {
  return {OpKind::remove, std::move(key), tombstone};
}
inline SampleOp cas(std::string key, Value expected, Value value, bool effect) {
  return {OpKind::cas, std::move(key), value, expected, effect};
}
inline SampleOp ins(std::string key, Value value, bool effect) {
  return {OpKind::insert, std::move(key), value, {}, effect};
}

inline ValueView view(const Value& value) {
  return value ? ValueView::of(*value) : ValueView::null();
}

inline void add(HistoryBuilder& builder, const SampleOp& op) {
  builder.add({.kind = op.kind,
               .effect = op.effect,
               .key = ValueView::of(std::string_view(op.key)),
               .value = view(op.value),
               .expected = view(op.expected)});
}

inline Interval point(int64_t time) {
  return time == Interval::kUnknown ? Interval{} : Interval::point(time);
}

// Throws any error of the builder.
inline History make_history(const std::vector<Txn>& txns, const std::vector<Stated>& stated = {}) {
  HistoryBuilder builder;
  for (const Txn& txn : txns) {
    builder.begin_txn({.session = ValueView::of(txn.session),
                       .status = txn.status,
                       .begin = point(txn.begin),
                       .end = point(txn.end)});
    for (const SampleOp& op : txn.ops) add(builder, op);
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

}  // namespace assay::internal::sample
