#include "watch/late_effects.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace assay::internal::watch {
namespace {

ValueView session_of(const Member& m) { return m.piece->session_name(m.piece->session(m.txn)); }

}  // namespace

// --- late transactions

void LateEffects::add(LateTxn p) {
  const uint64_t number = p.member.number;
  const LateTxn& late = txns_.emplace(number, std::move(p)).first->second;
  const History& h = *late.member.piece;
  for (OpId i = h.first_op(late.member.txn); i < h.end_op(late.member.txn); ++i)
    if (late.shows(i)) show(HeldValue(h.key(h.op(i).key)), {number, h.op(i).key});
}

void LateEffects::show(const HeldValue& key, const LateWrite& write) {
  std::vector<LateWrite>& writers = by_key_[key];
  const auto place = [this](const LateWrite& m) { return txns_.find(m.number)->second.place; };
  const auto at = std::ranges::lower_bound(writers, place(write), {}, place);
  if (at == writers.end() || at->number != write.number) writers.insert(at, write);
}

std::span<const LateWrite> LateEffects::writers_of(const ValueView& key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? std::span<const LateWrite>() : it->second;
}

const LateTxn* LateEffects::explanation_of(const History& h, const Observation& seen) const {
  if (seen.accepts != Accepts::equals) return nullptr;
  const std::span<const LateWrite> writers = writers_of(h.key(seen.key));
  for (size_t i = writers.size(); i-- > 0;) {
    const LateTxn& late = txns_.find(writers[i].number)->second;
    const Member& m = late.member;
    const KeyState left = state_left_by(*m.piece, m.txn, writers[i].key);
    if (fits(h, seen, m.piece->version_value(left.version), left.removed)) return &late;
  }
  return nullptr;
}

std::vector<LateWrite> LateEffects::mask(const ValueView& key, uint64_t place) {
  std::vector<LateWrite> masked;
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return masked;
  std::vector<LateWrite>& writers = it->second;
  size_t before = 0;
  for (; before < writers.size(); ++before) {
    LateTxn& late = txns_.find(writers[before].number)->second;
    if (late.place >= place) break;
    late.masked.push_back(writers[before].key);
    masked.push_back(writers[before]);
  }
  writers.erase(writers.begin(), writers.begin() + static_cast<std::ptrdiff_t>(before));
  if (writers.empty()) by_key_.erase(it);
  return masked;
}

void LateEffects::unmask(const LateWrite& m) {
  const auto it = txns_.find(m.number);
  if (it == txns_.end()) return;
  std::erase(it->second.masked, m.key);
  show(HeldValue(it->second.member.piece->key(m.key)), m);
}

const LateTxn* LateEffects::find_line(uint64_t line) const {
  for (const auto& [number, late] : txns_)
    if (late.member.line == line) return &late;
  return nullptr;
}

size_t LateEffects::shown(uint64_t number) const {
  const LateTxn& p = txns_.find(number)->second;
  std::vector<KeyId> keys;
  for (OpId i = p.member.piece->first_op(p.member.txn); i < p.member.piece->end_op(p.member.txn);
       ++i)
    if (p.shows(i)) keys.push_back(p.member.piece->op(i).key);
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys.size();
}

LateTxn LateEffects::take(uint64_t number) {
  const auto it = txns_.find(number);
  LateTxn p = std::move(it->second);
  txns_.erase(it);
  const Member& m = p.member;
  const History& h = *m.piece;
  for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i) {
    if (!p.shows(i)) continue;
    const auto key = by_key_.find(h.key(h.op(i).key));
    if (key == by_key_.end()) continue;
    std::erase_if(key->second, [&](const LateWrite& w) { return w.number == number; });
    if (key->second.empty()) by_key_.erase(key);
  }
  return p;
}

void LateEffects::note_in_chain(uint64_t number, uint64_t behind) {
  const auto it = txns_.find(number);
  if (it != txns_.end() && it->second.behind == behind) it->second.in_chain = true;
}

std::vector<Member> LateEffects::take_in_chain(int64_t reported) {
  std::vector<uint64_t> numbers;
  for (const auto& [number, late] : txns_)
    if (late.in_chain && late.member.last_look < reported) numbers.push_back(number);
  std::ranges::sort(numbers);
  std::vector<Member> taken;
  for (const uint64_t number : numbers) taken.push_back(take(number).member);
  return taken;
}

std::vector<Member> LateEffects::take_all() {
  std::vector<Member> taken;
  for (auto& [number, late] : txns_) taken.push_back(std::move(late.member));
  std::ranges::sort(taken, {}, &Member::number);
  txns_.clear();
  by_key_.clear();
  return taken;
}

// --- places

LatePlaces::LatePlaces(const Order& order) : order_(order) {
  const History& h = order.accesses.window().history;
  for (const Member* m : order.asked)
    for (OpId i = m->piece->first_op(m->txn); i < m->piece->end_op(m->txn); ++i)
      keys_.emplace(m->piece->key(m->piece->op(i).key), kNone);
  for (KeyId key = 0; key < h.key_count(); ++key)
    if (const auto it = keys_.find(h.key(key)); it != keys_.end()) it->second = key;
  for (const RivalVersion& r : order.rivals) movers_.push_back({r.from, r.behind, r.key});
  for (const LateTxn& p : order.touched) {
    const History& theirs = *p.member.piece;
    for (OpId i = theirs.first_op(p.member.txn); i < theirs.end_op(p.member.txn); ++i)
      if (installs_version(theirs.op(i)))
        reserved_[HeldValue(theirs.key(theirs.op(i).key))].writes.push_back(p.member.number);
  }
}

const Member& LatePlaces::at(uint32_t place) const {
  return order_.members[order_.accesses.window().members[order_.accesses.order()[place]]];
}

LatePlace LatePlaces::of(const Member& m) {
  const History& h = *m.piece;
  if (!touch(m) || writes_.empty()) return {LatePlace::Kind::never};
  if (is_barred(m)) return {};
  std::optional<uint32_t> behind = lower_bound(m);
  while ((behind = earliest(h, *behind))) {
    const std::vector<uint32_t> masks = next_masks(*behind);
    if (masks.size() == writes_.size())
      // All its writes are overwritten: it would make no difference whether it took effect here.
      behind = std::ranges::min(masks) + 1;
    else if (const std::optional<uint32_t> mover = in_the_way(m, *behind))
      behind = *mover + 1;
    else
      break;
  }
  if (behind) {
    if (!is_apart(m, *behind)) return {};
    reserve(m);
    return {LatePlace::Kind::here, *behind};
  }
  const auto may = [&](const Touch& look) { return may_come(h, look); };
  return {std::ranges::all_of(looks_, may) ? LatePlace::Kind::later : LatePlace::Kind::never};
}

// Collects what the transaction touches. False if it contradicts itself.
bool LatePlaces::touch(const Member& m) {
  const History& h = *m.piece;
  looks_.clear();
  writes_.clear();
  for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i) {
    const Touch t{i, keys_.find(h.key(h.op(i).key))->second};
    const Observation seen = observation_of(h, i);
    const auto own = std::find_if(writes_.rbegin(), writes_.rend(),
                                  [&](const Touch& w) { return h.op(w.op).key == seen.key; });
    if (own != writes_.rend()) {
      if (!fits(h, seen, install_of(h, own->op).state())) return false;
    } else if (seen.accepts != Accepts::any) {
      looks_.push_back(t);
    }
    if (installs_version(h.op(i))) writes_.push_back(t);
  }
  return true;
}

bool LatePlaces::must_come_first(const Member& other, const Member& m) const {
  if (other.status != TxnStatus::committed) return false;
  return other.end < m.begin || (other.number < m.number && session_of(other) == session_of(m));
}

// Whether a transaction that is not in the order has to come first.
bool LatePlaces::is_barred(const Member& m) const {
  return std::ranges::any_of(order_.left, [&](uint32_t i) {
    return !order_.members[i].left_out && must_come_first(order_.members[i], m);
  });
}

// The first place that time and the transaction's session allow.
uint32_t LatePlaces::lower_bound(const Member& m) const {
  for (uint32_t place = end(); place > 0; --place)
    if (must_come_first(at(place - 1), m)) return place;
  return 0;
}

// The first place, at or after `from`, where all of its reads fit, and after which its writes are
// not read. The client waited for its outcome from its begin on, so an earlier place is more likely
// than a later one.
std::optional<uint32_t> LatePlaces::earliest(const History& h, uint32_t from) const {
  std::optional<uint32_t> place = from;
  for (uint32_t before = kNone; place && *place != before;) {
    before = *place;
    for (const Touch& look : looks_)
      if (place) place = first_fit(h, look, *place);
    for (const Touch& write : writes_)
      if (place) place = first_unseen(write, *place);
  }
  return place;
}

// The first place, at or after `from`, where its read of the key fits.
std::optional<uint32_t> LatePlaces::first_fit(const History& h, const Touch& look,
                                              uint32_t from) const {
  const auto touched = accesses_of(look.key);
  auto next = std::ranges::lower_bound(touched, from, {}, &OrderAccess::place);
  auto writer = next;
  while (writer != touched.begin() && !std::prev(writer)->wrote) --writer;
  const bool is_there = writer == touched.begin() ? fits_before(h, look)
                                                  : fits_left_by(h, look, std::prev(writer)->place);
  if (is_there) return from;
  for (; next != touched.end(); ++next)
    if (next->wrote && fits_left_by(h, look, next->place)) return next->place + 1;
  return std::nullopt;
}

// The first place, at or after `from`, after which the write is not read before it is overwritten.
uint32_t LatePlaces::first_unseen(const Touch& write, uint32_t from) const {
  const auto touched = accesses_of(write.key);
  auto next = std::ranges::lower_bound(touched, from, {}, &OrderAccess::place);
  for (; next != touched.end() && !next->is_blind(); ++next) from = next->place + 1;
  return from;
}

std::span<const OrderAccess> LatePlaces::accesses_of(KeyId key) const {
  return key == kNone ? std::span<const OrderAccess>() : order_.accesses.of_key(key);
}

// Returns, for each write, the place in the order that overwrites it, if one does.
std::vector<uint32_t> LatePlaces::next_masks(uint32_t behind) const {
  std::vector<uint32_t> masks;
  for (const Touch& w : writes_) {
    const auto touched = accesses_of(w.key);
    const auto next = std::ranges::lower_bound(touched, behind, {}, &OrderAccess::place);
    if (next != touched.end()) masks.push_back(next->place);
  }
  return masks;
}

bool LatePlaces::fits_before(const History& h, const Touch& look) const {
  const Observation seen = observation_of(h, look.op);
  const LiveState::Entry* entry = order_.before.find(h.key(seen.key));
  if (entry == nullptr) return fits(h, seen, h.initial(seen.key), false);
  return fits(h, seen, entry->last.value.view(), entry->last.removed);
}

bool LatePlaces::fits_left_by(const History& h, const Touch& look, uint32_t place) const {
  const History& window = order_.accesses.window().history;
  const KeyState left = state_left_by(window, order_.accesses.order()[place], look.key);
  return fits(h, observation_of(h, look.op), window.version_value(left.version), left.removed);
}

// Whether the read fits at the end, or may fit later.
bool LatePlaces::may_come(const History& h, const Touch& look) const {
  if (first_fit(h, look, end())) return true;
  if (observation_of(h, look.op).accepts != Accepts::equals || fits_before(h, look)) return false;
  if (look.key == kNone) return true;
  return std::ranges::none_of(order_.accesses.of_key(look.key), [&](const OrderAccess& a) {
    return a.wrote && fits_left_by(h, look, a.place);
  });
}

// The new place of a transaction that may be moved past this one but must not pass it: it would
// have to come first, or touches the same keys.
std::optional<uint32_t> LatePlaces::in_the_way(const Member& m, uint32_t behind) const {
  for (const Mover& mover : movers_) {
    if (mover.from >= behind || behind > mover.behind) continue;
    const Member& other = at(mover.from);
    const auto shared = [&](const Touch& t) {
      return t.key != kNone && touches(mover.from, t.key);
    };
    if (other.end < m.begin || session_of(other) == session_of(m) ||
        std::ranges::any_of(looks_, shared) || std::ranges::any_of(writes_, shared))
      return mover.behind;
  }
  return std::nullopt;
}

bool LatePlaces::touches(uint32_t place, KeyId key) const {
  return std::ranges::any_of(order_.accesses.of_place(place),
                             [&](const OrderAccess& a) { return a.key == key; });
}

bool LatePlaces::is_apart(const Member& m, uint32_t behind) const {
  const History& h = *m.piece;
  const auto taken = [&](const Touch& t, bool writes) {
    const ValueView key = h.key(h.op(t.op).key);
    const auto stays = [&](const LateWrite& writer) {
      return !order_.late.find(writer.number).moved;
    };
    if (!writes && std::ranges::any_of(order_.late.writers_of(key), stays)) return true;
    const auto it = reserved_.find(key);
    if (it == reserved_.end()) return false;
    return std::ranges::any_of(writes ? it->second.looks : it->second.writes,
                               [&](uint64_t number) { return number != m.number; });
  };
  // It is still open which version it saw.
  const auto open = [&](const Touch& look) {
    const LiveState::Entry* entry = order_.before.find(h.key(h.op(look.op).key));
    if (entry == nullptr || entry->rivals.empty()) return false;
    if (look.key == kNone) return true;
    const auto touched = order_.accesses.of_key(look.key);
    return touched.empty() || touched.front().place >= behind;
  };
  // It is open from now on which version came last.
  const auto rivals = [&](const Touch& t) {
    return t.key != kNone && std::ranges::any_of(movers_, [&](const Mover& mover) {
             return mover.behind < behind && mover.key == t.key;
           });
  };
  return std::ranges::none_of(
             looks_, [&](const Touch& t) { return taken(t, false) || open(t) || rivals(t); }) &&
         std::ranges::none_of(writes_, [&](const Touch& t) { return taken(t, true); });
}

void LatePlaces::reserve(const Member& m) {
  const History& h = *m.piece;
  for (const Touch& t : looks_)
    for (const LateWrite& writer : order_.late.writers_of(h.key(h.op(t.op).key)))
      gave_way_.insert(writer.number);
  for (const Touch& t : looks_)
    reserved_[HeldValue(h.key(h.op(t.op).key))].looks.push_back(m.number);
  for (const Touch& t : writes_)
    reserved_[HeldValue(h.key(h.op(t.op).key))].writes.push_back(m.number);
}

}  // namespace assay::internal::watch
