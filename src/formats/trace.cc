#include "formats/trace.h"

#include <algorithm>
#include <utility>

namespace assay::internal::formats {
namespace {

constexpr std::array<std::string_view, kTraceColumns> kNames = {"session", "txn",  "op",    "key",
                                                                "value",   "time", "status"};

std::string lower(std::string_view text) {
  std::string s(text);
  for (char& c : s)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  return s;
}

}  // namespace

std::optional<TraceColumn> trace_column(std::string_view name) {
  const auto it = std::find(kNames.begin(), kNames.end(), lower(name));
  if (it == kNames.end()) return std::nullopt;
  return static_cast<TraceColumn>(it - kNames.begin());
}

TraceHistory::Held TraceHistory::held(const ValueView& v) {
  if (!v.has_text()) return {v.integer, 0, v.type};
  const Held h{static_cast<int64_t>(texts_.size()), static_cast<uint32_t>(v.text.size()), v.type};
  texts_ += v.text;
  return h;
}

ValueView TraceHistory::view(const Held& h) const {
  ValueView v;
  v.type = h.type;
  if (!v.has_text())
    v.integer = h.integer;
  else
    v.text = std::string_view(texts_).substr(static_cast<size_t>(h.integer), h.length);
  return v;
}

bool TraceHistory::fail(TraceColumn column, std::string message) {
  fault_ = {column, std::move(message)};
  return false;
}

bool TraceHistory::add(const TraceRow& row, uint64_t line) {
  if (!row.at(TraceColumn::session).present || row.at(TraceColumn::session).value.is_null())
    return fail(TraceColumn::session, "expected a session");
  if (!row.at(TraceColumn::op).present ||
      row.at(TraceColumn::op).value.type != ValueView::Type::string)
    return fail(TraceColumn::op, "expected an operation");
  if (gathered_.full()) return fail(TraceColumn::op, "more than 4 billion operations");
  const uint32_t txn = txn_of(row, line);
  if (txn == outcomes_.size()) {
    const TraceField& name = row.at(TraceColumn::txn);
    const bool named = name.present && !name.value.is_null();
    outcomes_.push_back(
        {{}, {}, {}, held(ValueView::of(named ? name.value.to_string() : std::string()))});
  }
  return read_time(row, outcomes_[txn]) && read_status(row, outcomes_[txn]) && read_op(row, txn);
}

// The transaction of a row; a row that names none is one by itself.
uint32_t TraceHistory::txn_of(const TraceRow& row, uint64_t line) {
  const ValueView& name = row.at(TraceColumn::session).value;
  const int64_t session = session_numbers_.of(name);
  if (static_cast<size_t>(session) == sessions_.size()) sessions_.push_back(held(name));
  const TraceField& txn = row.at(TraceColumn::txn);
  if (!txn.present || txn.value.is_null()) return gathered_.separate_txn(session, --unnamed_, line);
  return gathered_.txn(session, txn_numbers_.of(txn.value), line);
}

bool TraceHistory::read_time(const TraceRow& row, Outcome& to) {
  const TraceField& field = row.at(TraceColumn::time);
  if (!field.present) return true;
  if (field.value.type != ValueView::Type::integer || field.value.integer == Interval::kUnknown)
    return fail(TraceColumn::time, "expected a time in nanoseconds, an integer");
  const int64_t first = field.value.integer;
  const int64_t last = row.end.value_or(first);
  if (last < first) return fail(TraceColumn::time, "expected a time that is not after the end");
  if (!to.begin.known() || first < to.begin.request) to.begin = Interval::point(first);
  if (!to.end.known() || last > to.end.response) to.end = Interval::point(last);
  return true;
}

bool TraceHistory::read_status(const TraceRow& row, Outcome& to) {
  const TraceField& field = row.at(TraceColumn::status);
  if (!field.present) return true;
  const std::string status = lower(field.value.text);
  if (status == "committed" || status == "ok")
    to.status = TxnStatus::committed;
  else if (status == "aborted" || status == "fail")
    to.status = TxnStatus::aborted;
  else if (status == "unknown" || status == "info")
    to.status = TxnStatus::unknown;
  else
    return fail(TraceColumn::status, "expected committed, aborted or unknown");
  return true;
}

bool TraceHistory::read_op(const TraceRow& row, uint32_t txn) {
  const std::string name = lower(row.at(TraceColumn::op).value.text);
  if (name == "begin") return true;
  if (name == "commit" || name == "abort" || name == "rollback") {
    // A commit that failed may have taken effect nevertheless.
    outcomes_[txn].status = name != "commit" ? TxnStatus::aborted
                            : row.failed     ? TxnStatus::unknown
                                             : TxnStatus::committed;
    ends_told_ = true;
    return true;
  }
  HeldOp op;
  if (name == "r" || name == "read")
    op.kind = OpKind::read;
  else if (name == "w" || name == "write")
    op.kind = OpKind::write;
  else if (name == "a" || name == "append")
    op.kind = OpKind::append;
  else if (name == "d" || name == "delete")
    op.kind = OpKind::remove;
  else
    return fail(TraceColumn::op, "expected read, write, append, delete, begin, commit or abort");
  const TraceField& key = row.at(TraceColumn::key);
  if (!key.present || key.value.is_null()) return fail(TraceColumn::key, "expected a key");
  op.key = held(key.value);
  const TraceField& value = row.at(TraceColumn::value);
  if (op.kind == OpKind::read && row.failed) return true;
  if (op.kind == OpKind::read && value.list) {
    op.kind = OpKind::read_list;
    op.value = {static_cast<int64_t>(elements_.size()),
                static_cast<uint32_t>(value.elements.size()), ValueView::Type::null};
    for (const ValueView& e : value.elements) elements_.push_back(held(e));
  } else if (value.present && !value.list && !value.value.is_null()) {
    op.value = held(value.value);
  } else if (op.kind != OpKind::read) {
    return fail(TraceColumn::value, "expected a value to write");
  }
  gathered_.add(txn, op);
  return true;
}

Status TraceHistory::build_txn(StreamedBuilder& builder, uint32_t t,
                               const GatheredTxns<HeldOp>::Txn& txn,
                               std::span<const HeldOp* const> ops) const {
  const Outcome& outcome = outcomes_[t];
  TxnHeader header;
  header.session = view(sessions_[static_cast<size_t>(txn.session)]);
  header.name = view(outcome.name).text;
  // If the source reports ends, a transaction without one was cut off.
  header.status = outcome.status.value_or(ends_told_ && txn.id >= 0 ? TxnStatus::unknown
                                                                    : TxnStatus::committed);
  header.begin = outcome.begin;
  if (header.status != TxnStatus::unknown) header.end = outcome.end;
  header.line = txn.line;
  builder.begin_txn(header);
  std::vector<ValueView> list;
  for (const HeldOp* held : ops) {
    Op op{.kind = held->kind, .key = view(held->key)};
    if (op.kind == OpKind::read_list) {
      list.clear();
      for (uint32_t i = 0; i < held->value.length; ++i)
        list.push_back(view(elements_[static_cast<size_t>(held->value.integer) + i]));
      op.list = list;
    } else {
      op.value = view(held->value);
    }
    builder.add(op);
  }
  return builder.end_txn();
}

Result<History> TraceHistory::finish() && {
  StreamedBuilder builder(budget_, threads_);
  auto built =
      gathered_.for_each([&](uint32_t t, const auto& txn, std::span<const HeldOp* const> ops) {
        return build_txn(builder, t, txn, ops);
      });
  if (!built.ok()) return built.error();
  return std::move(builder).finish();
}

}  // namespace assay::internal::formats
