#include "certify/reads.h"

#include <algorithm>

#include "base/sort_by.h"

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
    const Access a = access_of(history, i);
    if (!a.writes()) continue;
    const bool installed = last_writer[a.key] != t;
    last_writer[a.key] = t;
    const bool leaves_nothing = a.removes() || null_[a.version];
    ever_[a.version] = true;
    if (leaves_nothing) ever_absent_[a.key] = true;
    if (may_count || rule == ReadRule::dirty) authors_[a.version].add(t);
    if (!may_count || !installed) continue;
    installers_[a.version].add(t);
    if (leaves_nothing) absent_[a.key].add(t);
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

namespace {

// The versions that an operation saw, with `own_write` left open.
void append_observations(const History& h, const Access& a, std::vector<Observation>& out) {
  const auto add = [&](KeyId key, VersionId version, bool initial) {
    out.push_back({a.op, key, version, kNone, initial});
  };
  switch (a.accepts) {
    case Accepts::equals:
      return add(a.key, a.seen, h.is_initial(a.seen));
    case Accepts::absent:
      return add(a.key, kNone, h.initial(a.key).is_null());
    case Accepts::list: {
      // A list is empty before the first append, whatever the initial value of other keys.
      const ListSeen seen = list_seen(h, a.op);
      const size_t all = h.operands(a.op).size();
      const bool own_elements = seen.own_at_end && seen.others.size() != all;
      VersionId last = a.seen;
      if (own_elements) last = seen.others.empty() ? kNone : seen.others.back();
      return add(a.key, last, last == kNone || all == 0);
    }
    case Accepts::rows:
      return each_row(h, a.op, [&](VersionId v) { add(h.version_key(v), v, h.is_initial(v)); });
    case Accepts::any:
    case Accepts::differs:
    case Accepts::present:
      return;
  }
}

// What is stated of an observation from outside.
void note_source(const History& history, Observation& seen) {
  seen.stated = stated_to_be_from(history, seen.op);
  if (seen.stated == kNone) return;
  seen.initial = seen.stated == kInitialTxn;
  seen.left = !seen.initial && left_behind(history, seen.stated, seen.op);
}

}  // namespace

std::vector<Observation> observations(const History& history, TxnId t) {
  std::vector<Observation> all;
  std::unordered_map<KeyId, OpId> own;
  for (const Access& a : accesses(history, t)) {
    const size_t before = all.size();
    append_observations(history, a, all);
    const bool shows_others = a.accepts == Accepts::list && list_seen(history, a.op).own_at_end;
    for (size_t k = before; k < all.size() && !shows_others; ++k)
      if (auto it = own.find(all[k].key); it != own.end()) all[k].own_write = it->second;
    if (a.writes()) own[a.key] = a.op;
  }
  if (history.states_sources())
    for (Observation& seen : all)
      if (seen.external()) note_source(history, seen);
  return all;
}

const AccessIndex::Slice& AccessIndex::slice(TxnId t) {
  auto [it, fresh] = slices_.try_emplace(t);
  Slice& s = it->second;
  if (!fresh) return s;
  for (const Observation& seen : observations(history_, t))
    if (seen.external()) s.reads.push_back(seen);
  stable_sort_by(s.reads, [](const Observation& seen) { return seen.key; });
  for (const Access& a : accesses(history_, t))
    if (a.writes()) s.written.push_back(a.key);
  std::sort(s.written.begin(), s.written.end());
  s.written.erase(std::unique(s.written.begin(), s.written.end()), s.written.end());
  return s;
}

std::span<const Observation> AccessIndex::external_reads(TxnId t, KeyId key) {
  const Slice& s = slice(t);
  auto by_key = [](const Observation& a, const Observation& b) { return a.key < b.key; };
  Observation probe;
  probe.key = key;
  const auto [lo, hi] = std::equal_range(s.reads.begin(), s.reads.end(), probe, by_key);
  return {lo, hi};
}

bool AccessIndex::writes_key(TxnId t, KeyId key) {
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
    for (const Access& a : accesses(history_, t))
      if (a.accepts == Accepts::list)
        for (const VersionId v : history_.operands(a.op)) keep(writers_.only_author(v));
  }
}

void Counting::keep(TxnId t) {
  if (t == kNone || history_.status(t) != TxnStatus::unknown || kept_[t]) return;
  kept_[t] = true;
  work_.push_back(t);
}

}  // namespace assay::internal::certify
