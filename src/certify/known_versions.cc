#include "certify/known_versions.h"

#include <algorithm>

#include "certify/reads.h"
#include "certify/refusal.h"
#include "history/aggregate.h"
#include "history/predicates.h"

namespace assay::internal::certify {

KnownVersions::KnownVersions(const Lookups& lookups, std::span<const TxnId> order)
    : lookups_(lookups),
      history_(lookups.history()),
      order_(order),
      place_(history_.txn_count()),
      writers_(history_, order),
      keys_(history_.key_count()) {
  for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = static_cast<Place>(i + 1);
  for (KeyId key = 0; key < keys_.size(); ++key)
    keys_[key].stated_before.resize(writers_.of(key).size() + 1);
  note_lines();
  for (KeyId key = 0; key < keys_.size(); ++key)
    if (is_suspect(key)) suspects_.push_back(key);
}

// Notes, for each line, each transaction and the next one.
void KnownVersions::note_lines() {
  const StatedOrders& stated = lookups_.stated();
  for (size_t line = 0; line < stated.lines(); ++line) {
    const KeyId key = history_.known_orders()[line].key;
    Slot before = 0;
    for (const TxnId t : stated.named(line)) {
      if (t == kNone || place_[t] == 0) continue;
      const Slot at = slot_of(key, t);
      if (at == 0 || at == before) continue;
      Slot& last = keys_[key].stated_before[at];
      last = std::max(last, before);
      before = at;
    }
  }
}

// Notes transactions that read a version of a key and wrote the key.
void KnownVersions::note_updates() {
  for (const TxnId t : order_)
    for (const Observation& seen : observations(history_, t)) {
      if (!seen.external() || !is_suspect(seen.key)) continue;
      const Slot at = slot_of(seen.key, t);
      const TxnId source = at == 0 ? kNone : certify::source(lookups_.writes(), seen, t);
      if (source == kNone || place_[source] == 0) continue;
      Slot& last = keys_[seen.key].stated_before[at];
      if (const Slot before = slot_of(seen.key, source); before < at) last = std::max(last, before);
    }
}

KnownVersions::Slot KnownVersions::slot_of(KeyId key, TxnId t) const {
  const Slot slot = writers_.up_to(key, place_[t]);
  return slot > 0 && writers_.of(key)[slot - 1] == place_[t] ? slot : 0;
}

bool KnownVersions::knows_all(const Key& key) const {
  for (Slot at = 2; at < key.stated_before.size(); ++at)
    if (key.stated_before[at] != at - 1) return false;
  return true;
}

Status KnownVersions::as_replayed(ReadRule rule) {
  if (all_stated()) return Ok{};
  if (rule == ReadRule::clean) note_updates();
  for (const TxnId t : order_)
    if (Status s = see_all(t, rule); !s.ok()) return s;
  return judge();
}

Status KnownVersions::as_read(const CommitOrder& reads) {
  if (all_stated()) return Ok{};
  note_updates();
  for (Place p = 1; p <= reads.count(); ++p)
    for (const ReadFrom& read : reads.reads(p)) {
      const Slot slot = read.from == 0 ? 0 : slot_of(read.key, reads.txn(read.from));
      see(read.key, slot);
      if (access_of(history_, read.op).accepts == Accepts::list) see_list(read.op, slot);
    }
  return judge();
}

const Sources& KnownVersions::sources() {
  if (!sources_) sources_.emplace(lookups_.writes());
  return *sources_;
}

void KnownVersions::see_list(OpId op, Slot slot) {
  Slot& listed = keys_[history_.op(op).key].listed;
  listed = std::max(listed, slot);
}

Status KnownVersions::see_all(TxnId reader, ReadRule rule) {
  std::vector<KeyId> own;  // registers that the transaction has written so far
  for (const Access& a : accesses(history_, reader)) {
    const bool dirty = rule == ReadRule::dirty, range = a.is_range();
    if (dirty && a.accepts == Accepts::list) {
      see_dirty_list(a);
      continue;
    }
    if (range && aggregates_rows(a.op)) see_aggregate(a.op);
    if (a.reads())
      for (const KeyId key : range ? std::span<const KeyId>(suspects_) : std::span(&a.key, 1)) {
        if (range && !step())
          return too_much("there are too many keys in ranges whose versions are not stated");
        if (!range && !is_suspect(key)) continue;
        const Slot slot = writers_.up_to(key, place_[reader] - 1);
        if (!dirty && (std::ranges::count(own, key) > 0 || (range && keys_[key].seen >= slot)))
          continue;
        if (range && !sources().sees(a.op, key)) continue;
        if (dirty) {
          see_dirty(a.op, key);
        } else {
          see(key, slot);
          if (a.is_list()) see_list(a.op, slot);
        }
      }
    if (a.writes() && !a.appends()) own.push_back(a.key);
  }
  return Ok{};
}

// Whether the aggregate may have added up any version: it may, unless it found no row, or none with
// a value.
bool KnownVersions::aggregates_rows(OpId op) const {
  const Selected selected = history_.selected(op);
  if (selected.aggregate == kNone) return false;
  const Aggregate& aggregate = history_.predicates().aggregate(selected.aggregate);
  const bool no_row =
      aggregate.function == AggregateFunction::count && aggregate.value.integer == 0;
  return !selected.complete || !(no_row || aggregate.value.type == Cell::Type::null);
}

void KnownVersions::see_aggregate(OpId op) {
  const Aggregate& aggregate = history_.predicates().aggregate(history_.selected(op).aggregate);
  for (const KeyId key : suspects_)
    if (covers(history_, op, key) && sources().may_satisfy(aggregate.where, key))
      see(key, last_slot(key));
}

// Notes the last transaction with an element in the list, as far as the writers are certain.
void KnownVersions::see_dirty_list(const Access& list) {
  Slot last = 0;
  for (const VersionId element : list_seen(history_, list.op).others) {
    const TxnId author = lookups_.writes().only_author(element, ReadRule::dirty);
    if (author != kNone && place_[author] != 0) last = std::max(last, slot_of(list.key, author));
  }
  see(list.key, last);
  see_list(list.op, last);
}

// Notes the last of the transactions that may have left the state that the operation saw.
void KnownVersions::see_dirty(OpId op, KeyId key) {
  const std::vector<TxnId> left =
      sources().certain_writers(op, key, [this](TxnId t) { return place_[t] != 0; });
  if (left.empty()) return;
  see(key, left.size() == 1 ? slot_of(key, left[0]) : last_slot(key));
}

Status KnownVersions::judge() const {
  for (const KeyId k : suspects_) {
    const Key& key = keys_[k];
    if (key.seen == 0) continue;
    for (Slot at = 2; at < key.stated_before.size(); ++at) {
      Slot before = key.stated_before[at];
      if (key.listed > 0) before = std::max(before, at <= key.listed ? at - 1 : key.listed);
      if (before >= std::min<Slot>(at - 1, key.seen)) continue;
      return refuse(
          "nothing says whether the version of {} by transaction {} or that by {} came first",
          history_.key(k).to_string(), history_.name(order_[writers_.of(k)[at - 2] - 1]),
          history_.name(order_[writers_.of(k)[at - 1] - 1]));
    }
  }
  return Ok{};
}

}  // namespace assay::internal::certify
