#include "history/copy.h"

#include "history/predicates.h"

namespace assay::internal {
namespace {

std::span<const ValueView> values_of(const History& h, std::span<const VersionId> versions,
                                     OpBuffers& buffers) {
  buffers.list.clear();
  for (const VersionId v : versions) buffers.list.push_back(h.version_value(v));
  return buffers.list;
}

std::span<const Op::Row> rows_of(const History& h, std::span<const VersionId> versions,
                                 std::vector<Op::Row>& to) {
  to.clear();
  for (const VersionId v : versions) to.emplace_back(h.key(h.version_key(v)), h.version_value(v));
  return to;
}

Op outside_range(const History& h, KeyId lo, KeyId hi, const Selected& selected,
                 OpBuffers& buffers) {
  const auto bound = [&](KeyId k) { return k == kNone ? ValueView::null() : h.key(k); };
  if (selected.aggregate != kNone)
    return h.predicates().query(selected.aggregate, bound(lo), bound(hi));
  Op op = Op::range(bound(lo), bound(hi), rows_of(h, selected.rows, buffers.rows));
  if (selected.predicate == kNone) return op;
  op.where = h.predicates().text(selected.predicate);
  op.passed = rows_of(h, selected.passed, buffers.passed);
  buffers.list.clear();
  for (const KeyId key : selected.matched) buffers.list.push_back(h.key(key));
  op.list = buffers.list;
  op.effect = selected.complete;
  return op;
}

}  // namespace

void TxnCopier::begin(const History& h, TxnId t, bool with_times) {
  if (with_times)
    begin_at(h, t, h.begin_time(t), h.end_time(t));
  else
    begin_at(h, t, {}, {});
}

void TxnCopier::begin_at(const History& h, TxnId t, const Interval& begin, const Interval& end) {
  name_ = h.name(t);
  TxnHeader header;
  header.session = h.session_name(h.session(t));
  header.name = name_;
  header.status = h.status(t);
  header.begin = begin;
  header.end = end;
  header.start_ts = h.start_ts(t);
  header.commit_ts = h.commit_ts(t);
  header.level = h.declared_level(t);
  header.snapshot = h.snapshot(t);
  header.meta = h.meta(t);
  header.line = h.line(t);
  to_.begin_txn(header);
}

void TxnCopier::operation(const History& h, OpId i) { to_.add(h.outside(i, buffers_)); }

void TxnCopier::operation(const History& h, OpId i, OpKind kind,
                          std::span<const VersionId> elements, bool with_source) {
  Op op = h.outside(i, buffers_);
  if (op.kind != kind) op.effect = true;
  op.kind = kind;
  if (kind == OpKind::read_list) op.list = values_of(h, elements, buffers_);
  if (!with_source) op.source.reset();
  to_.add(op);
}

void TxnCopier::range(const History& h, OpId i, KeyId lo, KeyId hi, const Selected& selected) {
  Op op = outside_range(h, lo, hi, selected, buffers_);
  op.time = h.op_time(i);
  to_.add(op);
}

void copy_initial(const History& h, HistoryBuilder& to) {
  to.set_initial(h.initial());
  if (!h.has_own_initial()) return;
  for (KeyId k = 0; k < h.key_count(); ++k)
    if (h.own_initial(k) != kNone) to.set_initial(h.key(k), h.initial(k));
}

void copy_settings(const History& h, HistoryBuilder& to) {
  copy_initial(h, to);
  if (h.absent_is_never_written()) to.set_absent_is_never_written();
}

Result<History> copy_of(const History& h, std::span<const TxnId> txns) {
  HistoryBuilder builder;
  TxnCopier copier(builder);
  copy_settings(h, builder);
  for (const TxnId t : txns) {
    copier.begin(h, t);
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) copier.operation(h, i);
    if (Status s = builder.end_txn(); !s.ok()) return s.error();
  }
  return std::move(builder).finish();
}

Result<std::shared_ptr<const History>> unknown_outcomes_of(const History& h) {
  std::vector<TxnId> unknown;
  for (TxnId t = 0; t < h.txn_count(); ++t)
    if (h.status(t) == TxnStatus::unknown) unknown.push_back(t);
  Result<History> copy = copy_of(h, unknown);
  if (!copy.ok()) return copy.error();
  return std::make_shared<const History>(std::move(*copy));
}

std::span<const StatedVersion> OrderCopier::of(const History& h, const KnownOrder& order) {
  return of(h, order, std::vector<bool>(order.versions.size(), true));
}

std::span<const StatedVersion> OrderCopier::of(const History& h, const KnownOrder& order,
                                               const std::vector<bool>& keep) {
  names_.clear();
  entries_.clear();
  for (size_t i = 0; i < order.versions.size(); ++i) {
    if (!keep[i]) continue;
    StatedVersion entry{.value = h.version_value(order.versions[i])};
    if (order.txn(i) != kNone) entry.txn = names_.emplace_back(h.name(order.txn(i)));
    entries_.push_back(entry);
  }
  return entries_;
}

}  // namespace assay::internal

namespace assay {

Op History::outside(OpId i, OpBuffers& buffers) const {
  const Operation stored = op(i);
  if (stored.kind == OpKind::range) {
    const std::span<const uint32_t> bounds = operands(i);
    Op range = internal::outside_range(*this, bounds[0], bounds[1], selected(i), buffers);
    range.time = op_time(i);
    return range;
  }
  Op op{.kind = stored.kind,
        .effect = stored.effect,
        .key = key(stored.key),
        .value = version_value(stored.version),
        .time = op_time(i)};
  if (op.kind == OpKind::cas) op.expected = version_value(operands(i)[0]);
  if (op.kind == OpKind::read_list) op.list = internal::values_of(*this, operands(i), buffers);
  if (const TxnId source = stated_source(i); source != kNone) {
    buffers.text = source == kInitialTxn ? std::string() : name(source);
    op.source = buffers.text;
  }
  return op;
}

}  // namespace assay
