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
      keys_(history_.key_count()) {
  for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = static_cast<Place>(i + 1);
  for (const TxnId t : order)
    for (const Access& a : accesses(history_, t)) {
      if (!a.writes()) continue;
      std::vector<Place>& writers = keys_[a.key].writers;
      if (writers.empty() || writers.back() != place_[t]) writers.push_back(place_[t]);
    }
  for (Key& key : keys_) key.stated_before.resize(key.writers.size() + 1);
  note_lines();
  for (KeyId key = 0; key < keys_.size(); ++key)
    if (is_suspect(key)) suspects_.push_back(key);
}

// Of each line each transaction and the next.
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

// Who read a version of a key, by itself, and wrote the key.
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
  const std::vector<Place>& writers = keys_[key].writers;
  const auto at = std::lower_bound(writers.begin(), writers.end(), place_[t]);
  return at != writers.end() && *at == place_[t] ? static_cast<Slot>(at - writers.begin() + 1) : 0;
}

KnownVersions::Slot KnownVersions::slot_before(KeyId key, Place place) const {
  const std::vector<Place>& writers = keys_[key].writers;
  return static_cast<Slot>(std::lower_bound(writers.begin(), writers.end(), place) -
                           writers.begin());
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
    if (Status s = rule == ReadRule::dirty ? see_dirty(t) : see_replayed(t); !s.ok()) return s;
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

void KnownVersions::see_list(OpId op, Slot slot) {
  Slot& listed = keys_[history_.op(op).key].listed;
  listed = std::max(listed, slot);
}

Status KnownVersions::see_replayed(TxnId reader) {
  std::vector<KeyId> own;  // registers written so far
  for (const Access& a : accesses(history_, reader)) {
    if (a.is_range()) {
      if (Status s = see_range(a.op, place_[reader], own); !s.ok()) return s;
      continue;
    }
    if (!is_suspect(a.key)) continue;
    if (a.reads() && std::ranges::count(own, a.key) == 0) {
      const Slot slot = slot_before(a.key, place_[reader]);
      see(a.key, slot);
      if (a.is_list()) see_list(a.op, slot);
    }
    if (a.writes() && !a.appends()) own.push_back(a.key);
  }
  return Ok{};
}

Status KnownVersions::see_range(OpId op, Place reader, std::span<const KeyId> own) {
  if (aggregates_rows(op)) see_aggregate(op);
  if (!sources_) sources_.emplace(lookups_.writes());
  for (const KeyId key : suspects_) {
    if (!step()) return too_much("there are too many keys in ranges whose versions are not stated");
    const Slot slot = slot_before(key, reader);
    if (keys_[key].seen >= slot || std::find(own.begin(), own.end(), key) != own.end()) continue;
    if (sources_->sees(op, key)) see(key, slot);
  }
  return Ok{};
}

// Unless it found that there is no row, or that none has a value, it may have added up any version.
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
  if (!sources_) sources_.emplace(lookups_.writes());
  for (const KeyId key : suspects_)
    if (covers(history_, op, key) && sources_->may_satisfy(aggregate.where, key))
      see(key, static_cast<Slot>(keys_[key].writers.size()));
}

// The last whose element it shows, as far as they are certain.
void KnownVersions::see_dirty_list(const Access& list) {
  Slot last = 0;
  for (const VersionId element : list_seen(history_, list.op).others) {
    const TxnId author = lookups_.writes().only_author(element, ReadRule::dirty);
    if (author != kNone && place_[author] != 0) last = std::max(last, slot_of(list.key, author));
  }
  see(list.key, last);
  see_list(list.op, last);
}

Status KnownVersions::see_dirty(TxnId reader) {
  for (const Access& a : accesses(history_, reader)) {
    if (a.accepts == Accepts::list) {
      see_dirty_list(a);
      continue;
    }
    if (a.is_range() && aggregates_rows(a.op)) see_aggregate(a.op);
    if (!a.is_range() && (!a.reads() || !is_suspect(a.key))) continue;
    if (!sources_) sources_.emplace(lookups_.writes());
    const std::span<const KeyId> keys =
        a.is_range() ? std::span<const KeyId>(suspects_) : std::span<const KeyId>(&a.key, 1);
    for (const KeyId key : keys) {
      if (!step()) return too_much("there are too many keys whose versions are not stated");
      if (a.is_range() && !sources_->sees(a.op, key)) continue;
      const std::vector<TxnId> left =
          sources_->certainly_left_by(a.op, key, [this](TxnId t) { return place_[t] != 0; });
      if (left.empty()) continue;
      see(key,
          left.size() == 1 ? slot_of(key, left[0]) : static_cast<Slot>(keys_[key].writers.size()));
    }
  }
  return Ok{};
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
          history_.key(k).to_string(), history_.name(order_[key.writers[at - 2] - 1]),
          history_.name(order_[key.writers[at - 1] - 1]));
    }
  }
  return Ok{};
}

}  // namespace assay::internal::certify
