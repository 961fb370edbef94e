#include "certify/reads.h"

#include <algorithm>

#include "base/sort_by.h"
#include "certify/stated_sources.h"

namespace assay::internal::certify {

void Writers::Few::add(TxnId t) {
  if (count > 0 && (t == first || t == second)) return;
  if (count == 0) first = t;
  if (count == 1) second = t;
  if (count < 3) ++count;
}

Writers::Writers(const History& history, ReadRule rule)
    : null_(history.version_count()),
      installers_(history.version_count()),
      authors_(history.version_count()),
      ever_(history.version_count()),
      absent_(history.key_count()),
      ever_absent_(history.key_count()) {
  for (VersionId v = 0; v < history.version_count(); ++v)
    null_[v] = history.version_value(v).is_null();
  std::vector<TxnId> last_writer(history.key_count(), kNone);
  for (TxnId t = 0; t < history.txn_count(); ++t) add_transaction(history, t, rule, last_writer);
}

// `last_writer`: per key, the last transaction that was added and writes it.
void Writers::add_transaction(const History& history, TxnId t, ReadRule rule,
                              std::vector<TxnId>& last_writer) {
  const bool may_count = history.status(t) != TxnStatus::aborted;
  // Backwards, so that the first write met of each key is the one installed.
  for (OpId i = history.end_op(t); i-- > history.first_op(t);) {
    const Operation op = history.op(i);
    if (!writes(op)) continue;
    const bool installed = last_writer[op.key] != t;
    last_writer[op.key] = t;
    const bool leaves_nothing = op.kind == OpKind::remove || null_[op.version];
    ever_[op.version] = true;
    if (leaves_nothing) ever_absent_[op.key] = true;
    if (may_count || rule == ReadRule::dirty) authors_[op.version].add(t);
    if (!may_count) continue;
    if (!installed) continue;
    installers_[op.version].add(t);
    if (leaves_nothing) absent_[op.key].add(t);
  }
}

// Those that are not `reader`, counted up to two.
int Writers::installer_count(const Observation& seen, TxnId reader) const {
  if (seen.stated != kNone) return seen.left ? 1 : 0;
  const Few& few = installers(seen);
  const bool reader_is_one = few.count > 0 && (few.first == reader || few.second == reader);
  const uint32_t others = few.count - (reader_is_one ? 1 : 0);
  return static_cast<int>(std::min(others, 2u));
}

TxnId Writers::only_author(VersionId version) const {
  return authors_[version].count == 1 ? authors_[version].first : kNone;
}

TxnId Writers::source(const Observation& seen, TxnId reader) const {
  if (!seen.external() || seen.initial || installer_count(seen, reader) != 1) return kNone;
  if (seen.stated != kNone) return seen.stated;
  const Few& few = installers(seen);
  return few.first == reader ? few.second : few.first;
}

bool Writers::certainly_initial(const Observation& seen, TxnId reader) const {
  return seen.external() && seen.initial && !may_be_installed(seen, reader);
}

ListSeen list_seen(const History& history, OpId op) {
  ListSeen seen{history.operands(op), true};
  const OpId first = history.first_op(history.txn_of(op));
  for (OpId i = op; i-- > first;) {
    const Operation own = history.op(i);
    if (own.kind != OpKind::append || own.key != history.op(op).key) continue;
    if (seen.others.empty() || seen.others.back() != own.version) return {{}, false};
    seen.others = seen.others.first(seen.others.size() - 1);
  }
  return seen;
}

namespace {

// The versions that `op` saw, with `own_write` left open.
void append_observations(const History& history, OpId i, std::vector<Observation>& out) {
  const Operation op = history.op(i);
  const std::span<const uint32_t> operands = history.operands(i);
  auto add = [&](KeyId key, VersionId version, bool initial) {
    out.push_back({i, key, version, kNone, initial});
  };
  switch (op.kind) {
    case OpKind::read:
      add(op.key, op.version, history.is_initial(op.version));
      break;
    case OpKind::read_list: {
      // A list is empty before the first append, whatever the initial value of other keys.
      const ListSeen seen = list_seen(history, i);
      const bool own_elements = seen.own_at_end && seen.others.size() != operands.size();
      VersionId last = op.version;
      if (own_elements) last = seen.others.empty() ? kNone : seen.others.back();
      add(op.key, last, last == kNone || operands.empty());
      break;
    }
    case OpKind::range:
      for (const auto& rows : {history.selected(i).rows, history.selected(i).passed})
        for (const VersionId v : rows) add(history.version_key(v), v, history.is_initial(v));
      break;
    case OpKind::cas:
      if (op.effect) add(op.key, operands[0], history.is_initial(operands[0]));
      break;
    case OpKind::insert:
      if (op.effect) add(op.key, kNone, history.initial(op.key).is_null());
      break;
    case OpKind::write:
    case OpKind::remove:
    case OpKind::append:
      break;
  }
}

// What is stated of an observation from outside.
void note_source(const History& history, Observation& seen) {
  if (history.op(seen.op).kind != OpKind::read) return;
  seen.stated = stated_to_be_from(history, seen.op);
  if (seen.stated == kNone) return;
  seen.initial = seen.stated == kInitialTxn;
  seen.left = !seen.initial && left_behind(history, seen.stated, seen.op);
}

}  // namespace

std::vector<Observation> observations(const History& history, TxnId t) {
  std::vector<Observation> all;
  std::unordered_map<KeyId, OpId> own;
  for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
    const size_t before = all.size();
    append_observations(history, i, all);
    const Operation op = history.op(i);
    const bool shows_others = op.kind == OpKind::read_list && list_seen(history, i).own_at_end;
    for (size_t k = before; k < all.size() && !shows_others; ++k)
      if (auto it = own.find(all[k].key); it != own.end()) all[k].own_write = it->second;
    if (writes(op)) own[op.key] = i;
  }
  if (history.states_sources())
    for (Observation& seen : all)
      if (seen.external()) note_source(history, seen);
  return all;
}

const Accesses::Slice& Accesses::slice(TxnId t) {
  auto [it, fresh] = slices_.try_emplace(t);
  Slice& s = it->second;
  if (!fresh) return s;
  for (const Observation& seen : observations(history_, t))
    if (seen.external()) s.reads.push_back(seen);
  stable_sort_by(s.reads, [](const Observation& seen) { return seen.key; });
  for (OpId i = history_.first_op(t); i < history_.end_op(t); ++i)
    if (const Operation op = history_.op(i); writes(op)) s.written.push_back(op.key);
  std::sort(s.written.begin(), s.written.end());
  s.written.erase(std::unique(s.written.begin(), s.written.end()), s.written.end());
  return s;
}

std::span<const Observation> Accesses::external_reads(TxnId t, KeyId key) {
  const Slice& s = slice(t);
  auto by_key = [](const Observation& a, const Observation& b) { return a.key < b.key; };
  Observation probe;
  probe.key = key;
  const auto [lo, hi] = std::equal_range(s.reads.begin(), s.reads.end(), probe, by_key);
  return {lo, hi};
}

bool Accesses::writes_key(TxnId t, KeyId key) {
  const Slice& s = slice(t);
  return std::binary_search(s.written.begin(), s.written.end(), key);
}

bool Counting::counts(TxnId t) {
  switch (history_.status(t)) {
    case TxnStatus::committed:
      return true;
    case TxnStatus::aborted:
      return false;
    case TxnStatus::unknown:
      if (kept_.empty()) close();
      return kept_[t];
  }
  return false;
}

void Counting::close() {
  kept_.assign(history_.txn_count(), false);
  for (TxnId t = 0; t < history_.txn_count(); ++t)
    if (history_.status(t) == TxnStatus::committed) work_.push_back(t);
  const StatedOrders stated(history_);
  for (size_t line = 0; line < stated.lines(); ++line)
    for (const TxnId t : stated.named(line)) keep(t);
  if (rule_ == ReadRule::dirty) work_.clear();
  while (!work_.empty()) {
    const TxnId t = work_.back();
    work_.pop_back();
    for (const Observation& seen : observations(history_, t)) keep(writers_.source(seen, t));
    // Every element of a list was appended by somebody, not only the last.
    for (OpId i = history_.first_op(t); i < history_.end_op(t); ++i)
      if (history_.op(i).kind == OpKind::read_list)
        for (VersionId v : history_.operands(i)) keep(writers_.only_author(v));
  }
}

void Counting::keep(TxnId t) {
  if (t == kNone || history_.status(t) != TxnStatus::unknown || kept_[t]) return;
  kept_[t] = true;
  work_.push_back(t);
}

}  // namespace assay::internal::certify
