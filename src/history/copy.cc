#include "history/copy.h"

namespace assay::internal {

void TxnCopier::begin(const History& h, TxnId t) {
  name_ = h.name(t);
  TxnHeader header;
  header.session = h.session_name(h.session(t));
  header.name = name_;
  header.status = h.status(t);
  header.begin = h.begin_time(t);
  header.end = h.end_time(t);
  header.start_ts = h.start_ts(t);
  header.commit_ts = h.commit_ts(t);
  header.snapshot = h.snapshot(t);
  header.meta = h.meta(t);
  header.line = h.line(t);
  to_.begin_txn(header);
}

void TxnCopier::operation(const History& h, OpId i) {
  const Operation op = h.op(i);
  const std::span<const uint32_t> operands = h.operands(i);
  if (op.kind == OpKind::range)
    return operation(h, i, op.kind, operands.subspan(2), operands[0], operands[1]);
  operation(h, i, op.kind, operands);
}

void TxnCopier::operation(const History& h, OpId i, OpKind kind,
                          std::span<const VersionId> versions, KeyId lo, KeyId hi,
                          bool with_source) {
  const Operation op = h.op(i);
  const auto name = [&](KeyId k) { return k == kNone ? ValueView::null() : h.key(k); };
  const ValueView key = op.kind == OpKind::range ? ValueView::null() : h.key(op.key);
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
      for (const VersionId v : versions) elements_.push_back(h.version_value(v));
      return to_.read_list(key, elements_);
    case OpKind::range:
      rows_.clear();
      for (const VersionId v : versions)
        rows_.emplace_back(h.key(h.version_key(v)), h.version_value(v));
      return to_.range(name(lo), name(hi), rows_);
  }
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
