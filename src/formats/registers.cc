#include "formats/registers.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "history/accesses.h"

namespace assay::internal::formats {

Registers::Registers(const History& history, Holds holds, Losses& losses)
    : history_(history), holds_(holds) {
  choose_txns(losses);
  name_sessions(losses);
  number(losses);
  count_losses(losses);
}

// The transactions of unknown outcome that a committed one read from, directly or through others.
std::vector<bool> Registers::read_unknowns() const {
  const History& h = history_;
  std::vector<bool> kept(h.txn_count(), false);
  // Per version the unknown transactions that wrote it; rarely more than one.
  std::unordered_multimap<VersionId, TxnId> writers;
  std::vector<TxnId> work;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) == TxnStatus::committed) work.push_back(t);
    if (h.status(t) != TxnStatus::unknown) continue;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Operation op = h.op(i);
      if (installs_version(op)) writers.emplace(op.version, t);
    }
  }
  auto keep_writers = [&](VersionId v) {
    auto [first, last] = writers.equal_range(v);
    for (auto it = first; it != last; ++it) {
      if (kept[it->second]) continue;
      kept[it->second] = true;
      work.push_back(it->second);
    }
  };
  while (!writers.empty() && !work.empty()) {
    TxnId t = work.back();
    work.pop_back();
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Observation seen = observation_of(h, i);
      switch (seen.accepts) {
        case Accepts::equals:
        case Accepts::differs:
          keep_writers(seen.version);
          break;
        case Accepts::list:
          for (const VersionId element : elements_of(h, i)) keep_writers(element);
          break;
        case Accepts::rows:
          each_row(h, i, keep_writers);
          break;
        case Accepts::any:
        case Accepts::absent:
        case Accepts::present:
        case Accepts::matches:
        case Accepts::misses:
        case Accepts::nothing:
          break;
      }
    }
  }
  return kept;
}

void Registers::choose_txns(Losses& losses) {
  const std::vector<bool> kept = read_unknowns();
  std::vector<Session> extra;
  for (SessionId s = 0; s < history_.session_count(); ++s) {
    auto& session = sessions_.emplace_back().txns;
    for (TxnId t : history_.session_txns(s)) {
      switch (history_.status(t)) {
        case TxnStatus::committed:
          session.push_back(t);
          break;
        case TxnStatus::aborted:
          if (holds_.aborted)
            session.push_back(t);
          else
            losses.add("aborted transactions");
          break;
        case TxnStatus::unknown:
          if (kept[t]) {
            extra.push_back({0, {t}});
            losses.add("transactions of unknown outcome that were read, written as committed ones");
          } else {
            losses.add("transactions of unknown outcome that nothing read");
          }
      }
    }
  }
  sessions_.insert(sessions_.end(), extra.begin(), extra.end());
}

void Registers::name_sessions(Losses& losses) {
  bool own = true;
  bool dense = true;
  int64_t next = 0;
  for (SessionId s = 0; s < history_.session_count(); ++s) {
    const ValueView name = history_.session_name(s);
    own = own && name.type == ValueView::Type::integer && name.integer >= 0 &&
          name.integer < int64_t{1} << 62;
    dense = dense && own && name.integer == int64_t{s};
    if (own) next = std::max(next, name.integer + 1);
  }
  if (!own || (!holds_.session_names && !dense))
    losses.add("names of sessions", history_.session_count());
  if (!own) next = 0;
  for (size_t s = 0; s < sessions_.size(); ++s) {
    const bool keep = own && s < history_.session_count();
    sessions_[s].name = keep ? history_.session_name(static_cast<SessionId>(s)).integer : next++;
  }
}

bool Registers::fits(const ValueView& v) const {
  return v.type == ValueView::Type::integer && (holds_.negative || v.integer >= 0);
}

void Registers::number(Losses& losses) {
  for (KeyId k = 0; k < history_.key_count(); ++k)
    renumber_keys_ = renumber_keys_ || holds_.any_key || !fits(history_.key(k));
  for (VersionId v = 0; v < history_.version_count(); ++v) {
    const ValueView value = history_.version_value(v);
    const bool zero = holds_.initial_zero && value == ValueView::of(0);
    if (!history_.is_initial(v)) renumber_values_ = renumber_values_ || !fits(value) || zero;
  }
  if (renumber_keys_ && !holds_.any_key)
    losses.add("keys, replaced by numbers", history_.key_count());
  if (renumber_values_) losses.add("values, replaced by numbers", history_.version_count());
}

int64_t Registers::value_number(VersionId v) {
  if (history_.is_initial(v)) return 0;
  const ValueView value = history_.version_value(v);
  if (!renumber_values_) return value.integer;
  // null if that is not the initial value: a number that no other value gets
  return numbers_.of(value) + 1;
}

bool Registers::is_of_list(const Operation& op) const {
  return op.kind == OpKind::append || op.kind == OpKind::read_list ||
         (!holds_.registers && op.kind == OpKind::read &&
          history_.version_value(op.version).is_null());
}

bool Registers::has_place(const Operation& op) const {
  return (is_of_list(op) ? holds_.lists : holds_.registers) && op.kind != OpKind::range &&
         op.effect;
}

const std::vector<RegisterOp>& Registers::ops(TxnId t) {
  const History& h = history_;
  ops_.clear();
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    const Operation op = h.op(i);
    if (!has_place(op)) continue;
    int64_t key = renumber_keys_ ? int64_t{op.key} : h.key(op.key).integer;
    if (is_of_list(op)) {
      RegisterOp& to = ops_.emplace_back();
      to = {op.kind == OpKind::append, key, 0, true, {}};
      if (to.write) to.value = value_number(op.version);
      if (op.kind == OpKind::read_list)
        for (VersionId v : h.operands(i)) to.elements.push_back(value_number(v));
      continue;
    }
    if (op.kind == OpKind::cas)
      ops_.push_back({false, key, value_number(h.operands(i)[0]), false, {}});
    if (op.kind == OpKind::insert) ops_.push_back({false, key, 0, false, {}});
    ops_.push_back({op.kind != OpKind::read, key, value_number(op.version), false, {}});
  }
  return ops_;
}

void Registers::count_losses(Losses& losses) const {
  const History& h = history_;
  uint64_t kept = 0;
  for (const Session& session : sessions_)
    for (TxnId t : session.txns)
      for (OpId i = h.first_op(t); i < h.end_op(t); ++i) kept += has_place(h.op(i));
  losses.keep(kept);
  losses.add_annotations(h);
  losses.add_names(h);
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (!holds_.times && (h.begin_time(t).known() || h.end_time(t).known()))
      losses.add("times of transactions");
    if (!holds_.timestamps &&
        (h.start_ts(t) != Interval::kUnknown || h.commit_ts(t) != Interval::kUnknown))
      losses.add("timestamps of transactions");
  }
  for (OpId i = 0; i < h.op_count(); ++i) {
    const Operation op = h.op(i);
    if (!holds_.registers && !is_of_list(op)) {
      losses.add("operations that are neither appends nor reads of lists");
      continue;
    }
    losses.add_translated(op);
    if (holds_.lists) continue;
    if (op.kind == OpKind::append) losses.add("appends to lists");
    if (op.kind == OpKind::read_list) losses.add("reads of lists");
  }
}

}  // namespace assay::internal::formats
