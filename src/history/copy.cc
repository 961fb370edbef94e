#include "history/copy.h"

#include <cassert>

#include "history/predicates.h"

namespace assay::internal {

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

void TxnCopier::operation(const History& h, OpId i) {
  const Operation op = h.op(i);
  const std::span<const uint32_t> operands = h.operands(i);
  if (op.kind == OpKind::range) return range(h, i, operands[0], operands[1], h.selected(i));
  operation(h, i, op.kind, operands);
}

void TxnCopier::range(const History& h, OpId op, KeyId lo, KeyId hi, const Selected& selected) {
  add_range(h, lo, hi, selected);
  to_.timed(h.op_time(op));
}

void TxnCopier::operation(const History& h, OpId op, OpKind kind,
                          std::span<const VersionId> elements, bool with_source) {
  add(h, op, kind, elements, with_source);
  to_.timed(h.op_time(op));
}

void TxnCopier::add_range(const History& h, KeyId lo, KeyId hi, const Selected& selected) {
  const auto name = [&](KeyId k) { return k == kNone ? ValueView::null() : h.key(k); };
  const auto copy = [&](std::span<const VersionId> from, auto& to) {
    to.clear();
    for (const VersionId v : from) to.emplace_back(h.key(h.version_key(v)), h.version_value(v));
  };
  copy(selected.rows, rows_);
  if (selected.predicate == kNone) return to_.range(name(lo), name(hi), rows_);
  if (selected.aggregate != kNone) {
    const Status same =
        to_.aggregate(h.predicates().aggregation(selected.aggregate, name(lo), name(hi)));
    assert(same.ok() && "an aggregate is read as it was printed");
    return;
  }
  copy(selected.passed, passed_);
  elements_.clear();
  for (const KeyId key : selected.matched) elements_.push_back(h.key(key));
  const Status known = to_.select({name(lo), name(hi), h.predicates().text(selected.predicate),
                                   rows_, passed_, elements_, selected.complete});
  assert(known.ok() && "a condition is read as it was printed");
}

void TxnCopier::add(const History& h, OpId i, OpKind kind, std::span<const VersionId> elements,
                    bool with_source) {
  const Operation op = h.op(i);
  const ValueView key = h.key(op.key);
  const ValueView value = op.version == kNone ? ValueView::null() : h.version_value(op.version);
  switch (kind) {
    case OpKind::read: {
      const TxnId source = with_source ? h.stated_source(i) : kNone;
      if (source == kNone) return to_.read(key, value);
      return to_.read_from(key, value, source == kInitialTxn ? "" : h.name(source));
    }
    case OpKind::write:
      return to_.write(key, value);
    case OpKind::remove:
      return to_.remove(key, value);
    case OpKind::append:
      return to_.append(key, value);
    case OpKind::insert:
      return to_.insert(key, value, op.effect);
    case OpKind::cas:
      return to_.cas(key, h.version_value(h.operands(i)[0]), value, op.effect);
    case OpKind::read_list:
      elements_.clear();
      for (const VersionId v : elements) elements_.push_back(h.version_value(v));
      return to_.read_list(key, elements_);
    case OpKind::range:
      break;  // see range
  }
  assert(false && "a range is copied by range");
}

void copy_initial(const History& h, HistoryBuilder& to) {
  to.set_initial(h.initial());
  if (!h.has_own_initial()) return;
  for (KeyId k = 0; k < h.key_count(); ++k)
    if (h.own_initial(k) != kNone) to.set_initial(h.key(k), h.initial(k));
}

Result<History> copy_of(const History& h, std::span<const TxnId> txns) {
  HistoryBuilder builder;
  TxnCopier copier(builder);
  copy_initial(h, builder);
  if (h.absent_is_never_written()) builder.set_absent_is_never_written();
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
