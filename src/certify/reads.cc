#include "certify/reads.h"

#include <algorithm>

#include "base/sort_by.h"

namespace assay::internal::certify {

namespace {

// The transactions other than the reader that may have left the state that was seen: their number,
// counted up to two, and the first of them.
struct Leavers {
  TxnId first = kNone;
  int count = 0;
};

Leavers leavers(const Writes& writes, const Observation& seen, TxnId reader) {
  if (seen.stated != kNone) return {seen.stated, seen.left ? 1 : 0};
  Leavers found;
  for (const Write& write : writes.showing(seen.key, seen.version, Which::staying)) {
    if (write.txn == reader) continue;
    if (++found.count == 2) return found;
    found.first = write.txn;
  }
  return found;
}

}  // namespace

bool may_be_left(const Writes& writes, const Observation& seen, TxnId reader) {
  return leavers(writes, seen, reader).count > 0;
}

TxnId source(const Writes& writes, const Observation& seen, TxnId reader) {
  if (!seen.external() || seen.initial) return kNone;
  const Leavers found = leavers(writes, seen, reader);
  return found.count == 1 ? found.first : kNone;
}

bool certainly_initial(const Writes& writes, const Observation& seen, TxnId reader) {
  return seen.external() && seen.initial && !may_be_left(writes, seen, reader);
}

namespace {

// Appends the versions that an operation saw, with `own_write` left open.
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
      return each_named(h, a.op, [&](const Named& named) {
        if (named.row != kNone) add(named.key, named.row, h.is_initial(named.row));
      });
    case Accepts::any:
    case Accepts::differs:
    case Accepts::present:
      return;
  }
}

// Adds the stated source to an external observation.
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

std::span<const Observation> ExternalReads::of(TxnId t, KeyId key) {
  const auto [at, fresh] = by_key_.try_emplace(t);
  std::vector<Observation>& reads = at->second;
  if (fresh) {
    reads = observations(history_, t);
    std::erase_if(reads, [](const Observation& seen) { return !seen.external(); });
    stable_sort_by(reads, [](const Observation& seen) { return seen.key; });
  }
  const auto from = std::ranges::lower_bound(reads, key, {}, &Observation::key);
  return {from, std::ranges::upper_bound(reads, key, {}, &Observation::key)};
}

bool Counting::counts(TxnId t) {
  switch (lookups_.history().status(t)) {
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
  const History& h = lookups_.history();
  const Writes& writes = lookups_.writes();
  const StatedOrders& stated = lookups_.stated();
  kept_.assign(h.txn_count(), false);
  for (TxnId t = 0; t < h.txn_count(); ++t)
    if (h.status(t) == TxnStatus::committed) work_.push_back(t);
  for (size_t line = 0; line < stated.lines(); ++line)
    for (const TxnId t : stated.named(line)) keep(t);
  if (rule_ == ReadRule::dirty) work_.clear();
  while (!work_.empty()) {
    const TxnId t = work_.back();
    work_.pop_back();
    for (const Observation& seen : observations(h, t)) keep(source(writes, seen, t));
    // Every element of a list was appended by some transaction, not only the last.
    for (const Access& a : accesses(h, t))
      if (a.accepts == Accepts::list)
        for (const VersionId v : h.operands(a.op)) keep(writes.only_author(v, rule_));
  }
}

void Counting::keep(TxnId t) {
  if (t == kNone || lookups_.history().status(t) != TxnStatus::unknown || kept_[t]) return;
  kept_[t] = true;
  work_.push_back(t);
}

}  // namespace assay::internal::certify
