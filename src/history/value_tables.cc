// The interners of the store: outside keys and values to dense ids.
//
// A hash table is open addressing with linear probing over 8-byte slots (hash tag, id). A probe
// touches the payload only if the 32-bit tag agrees, so a lookup is one cache miss in the slots
// and, on a hit, one in the payload. A slot's place is the top bits of its tag, so a table grows in
// one sweep from slot to slot, without a look at the payload.
//
// Most keys and values of recorded histories are integers that are not much larger than their
// number: keys 0 to 99,999, values counted up. They need no hash: an array holds their ids. Such an
// array has at most twice as many places as there are interned values, and a few thousand, so a
// single large integer costs nothing. When it grows to include an integer that was hashed before,
// that integer moves into it. For versions the array holds, for each integer, the first version
// with that value, and its key; versions of other keys with the same value are hashed.
//
// `prefetch` lets the builder overlap the cache misses of some operations.

#include <algorithm>
#include <bit>
#include <utility>

#include "assay/history.h"
#include "base/hash.h"
#include "base/huge_pages.h"
#include "history/value_hash.h"

namespace assay::internal {

uint64_t hash_value(const ValueView& v) {
  switch (v.type) {
    case ValueView::Type::null:
      return 0x6E756C6Cull;
    case ValueView::Type::integer:
      return mix64(static_cast<uint64_t>(v.integer));
    case ValueView::Type::string:
      return hash_bytes(v.text);
    case ValueView::Type::row:
      return mix64(hash_bytes(v.text));
  }
  return 0;
}

uint64_t hash_version(KeyId key, const ValueView& v) {
  return mix64(hash_value(v) + key * 0xD1B54A32D192ED03ull);
}

}  // namespace assay::internal

namespace assay {
namespace {

constexpr size_t kFirstSlots = 1024;
constexpr size_t kFirstDirect = 64;  // places
constexpr size_t kAlwaysSmall = 4096;

// Whether an integer is small enough, given the number of values, to be an index of an array.
bool is_small(const ValueView& v, size_t values) {
  return v.type == ValueView::Type::integer &&
         static_cast<uint64_t>(v.integer) < 2 * values + kAlwaysSmall;
}

// Makes such an array long enough for the integer.
template <class Place>
void grow_places(std::vector<Place>& places, uint64_t integer) {
  const size_t before = places.size(), needed = static_cast<size_t>(integer) + 1;
  const size_t size = std::max({kFirstDirect, before + before / 2, needed});
  std::vector<Place> bigger;
  bigger.reserve(size);
  internal::advise_huge_pages(bigger.data(), size * sizeof(Place));
  bigger.assign(places.begin(), places.end());
  bigger.resize(size);
  places.swap(bigger);
}

uint64_t tag_of(uint64_t hash) { return hash >> 32 << 32; }

uint64_t pack_text(std::string& pool, std::string_view text) {
  const uint64_t packed = static_cast<uint64_t>(pool.size()) << 24 | text.size();
  pool.append(text);
  return packed;
}

std::string_view unpack_text(const std::string& pool, uint64_t packed) {
  return std::string_view(pool).substr(packed >> 24, packed & 0xFFFFFF);
}

bool same(const ValueView& v, uint64_t payload, ValueView::Type type, const std::string& pool) {
  if (v.type != type) return false;
  if (v.has_text()) return unpack_text(pool, payload) == v.text;
  return type == ValueView::Type::null || payload == static_cast<uint64_t>(v.integer);
}

uint64_t payload_of(const ValueView& v, std::string& pool) {
  return v.has_text() ? pack_text(pool, v.text) : static_cast<uint64_t>(v.integer);
}

ValueView view_of(uint64_t payload, ValueView::Type type, const std::string& pool) {
  if (type == ValueView::Type::string || type == ValueView::Type::row)
    return {type, 0, unpack_text(pool, payload)};
  return {type, static_cast<int64_t>(payload), {}};
}

// Where the search for a hash begins in a table of 2^k slots: its top k bits.
size_t home(uint64_t hash, size_t slots) { return hash >> (64 - std::countr_zero(slots)); }

void grow_slots(std::vector<uint64_t>& slots) {
  const size_t size = slots.empty() ? kFirstSlots : slots.size() * 2;
  const size_t mask = size - 1;
  std::vector<uint64_t> bigger;
  bigger.reserve(size);
  internal::advise_huge_pages(bigger.data(), size * sizeof(uint64_t));
  bigger.resize(size);
  for (const uint64_t slot : slots) {
    if (slot == 0) continue;
    size_t i = home(slot, size);
    while (bigger[i] != 0) i = (i + 1) & mask;
    bigger[i] = slot;
  }
  slots = std::move(bigger);
}

// Whether the table grows before it holds `values`.
bool overfull(const std::vector<uint64_t>& slots, size_t values) {
  return values * 3 >= slots.size() * 2;
}

// While the array grows, both the old and the new one exist; the new one may have twice as many
// places as there are values.
template <class Place>
uint64_t bytes_to_grow_direct(const std::vector<Place>& places, size_t values) {
  const size_t most = 2 * values + kAlwaysSmall;
  return most > places.size() ? (places.size() + most) * sizeof(Place) : 0;
}

uint64_t bytes_to_grow_slots(const std::vector<uint64_t>& slots, size_t values) {
  return overfull(slots, values) ? 2 * slots.size() * sizeof(uint64_t) : 0;
}

}  // namespace

uint64_t History::ValueTable::prefetch(const ValueView& v) const {
  if (is_direct(v)) {
    __builtin_prefetch(&direct_[static_cast<size_t>(v.integer)]);
    return 0;
  }
  const uint64_t hash = internal::hash_value(v);
  if (!slots_.empty()) __builtin_prefetch(&slots_[home(hash, slots_.size())]);
  return hash;
}

void History::ValueTable::release_slots() {  // assigning {} would keep the memory
  std::vector<uint32_t>().swap(direct_);
  std::vector<uint64_t>().swap(slots_);
}

uint32_t History::ValueTable::add(const ValueView& v) {
  payload_.push_back(payload_of(v, text_));
  type_.push_back(v.type);
  return static_cast<uint32_t>(payload_.size() - 1);
}

void History::ValueTable::grow_direct(uint64_t integer) {
  const size_t before = direct_.size();
  grow_places(direct_, integer);
  for (uint32_t id = 0; id < payload_.size(); ++id)
    if (type_[id] == ValueView::Type::integer && payload_[id] >= before &&
        payload_[id] < direct_.size())
      direct_[payload_[id]] = id + 1;
}

uint32_t History::ValueTable::intern(const ValueView& v, uint64_t hash) {
  if (!is_direct(v)) {
    if (!is_small(v, payload_.size())) return intern_hashed(v, hash);
    grow_direct(static_cast<uint64_t>(v.integer));
  }
  uint32_t& place = direct_[static_cast<size_t>(v.integer)];
  if (place == 0) place = add(v) + 1;
  return place - 1;
}

uint32_t History::ValueTable::intern_hashed(const ValueView& v, uint64_t hash) {
  if (overfull(slots_, hashed_)) grow_slots(slots_);
  const size_t mask = slots_.size() - 1;
  size_t i = home(hash, slots_.size());
  for (; slots_[i] != 0; i = (i + 1) & mask) {
    if (tag_of(slots_[i]) != tag_of(hash)) continue;
    const uint32_t id = static_cast<uint32_t>(slots_[i]) - 1;
    if (same(v, payload_[id], type_[id], text_)) return id;
  }
  const uint32_t id = add(v);
  slots_[i] = tag_of(hash) | (id + 1);
  ++hashed_;
  return id;
}

ValueView History::ValueTable::view(uint32_t id) const {
  return view_of(payload_[id], type_[id], text_);
}

uint64_t History::ValueTable::memory_bytes() const {
  return payload_.capacity() * 8 + type_.capacity() + text_.capacity() + direct_.capacity() * 4 +
         slots_.capacity() * 8;
}

uint64_t History::ValueTable::bytes_to_grow(size_t values, size_t text) const {
  return bytes_to_grow_slots(slots_, hashed_ + values) +
         bytes_to_grow_direct(direct_, size() + values) + internal::growth_bytes(payload_, values) +
         internal::growth_bytes(type_, values) + internal::growth_bytes(text_, text);
}

uint64_t History::VersionTable::prefetch(KeyId key, const ValueView& v) const {
  if (is_direct(v)) {
    __builtin_prefetch(&direct_[static_cast<size_t>(v.integer)]);
    return 0;
  }
  if (v.is_null()) {
    if (key < nulls_.size()) __builtin_prefetch(&nulls_[key]);
    return 0;
  }
  const uint64_t hash = internal::hash_version(key, v);
  if (!slots_.empty()) __builtin_prefetch(&slots_[home(hash, slots_.size())]);
  return hash;
}

// Only the first slot is looked at: most searches end there.
uint64_t History::VersionTable::prefetch_entry(KeyId key, const ValueView& v, uint64_t hash) const {
  if (v.is_null()) return 0;
  if (is_direct(v)) {
    const Direct& place = direct_[static_cast<size_t>(v.integer)];
    if (place.id == 0 || place.key == key) return 0;
    if (hash == 0) hash = internal::hash_version(key, v);
  }
  if (slots_.empty()) return hash;
  const uint64_t slot = slots_[home(hash, slots_.size())];
  if (slot != 0 && tag_of(slot) == tag_of(hash))
    __builtin_prefetch(&entries_[static_cast<uint32_t>(slot) - 1]);
  return hash;
}

void History::VersionTable::release_slots() {
  std::vector<Direct>().swap(direct_);
  std::vector<uint32_t>().swap(nulls_);
  std::vector<uint64_t>().swap(slots_);
}

VersionId History::VersionTable::add(KeyId key, const ValueView& v) {
  internal::push_back_roomy(entries_, Entry{payload_of(v, text_), key, v.type});
  return static_cast<VersionId>(entries_.size() - 1);
}

VersionId History::VersionTable::intern_null(KeyId key) {
  if (nulls_.size() <= key) nulls_.resize(std::max(size_t{key} + 1, 2 * nulls_.size()));
  if (nulls_[key] == 0) nulls_[key] = add(key, {}) + 1;
  return nulls_[key] - 1;
}

void History::VersionTable::grow_direct(uint64_t integer) {
  const size_t before = direct_.size();
  grow_places(direct_, integer);
  for (VersionId v = 0; v < entries_.size(); ++v) {
    const Entry& entry = entries_[v];
    if (entry.type == ValueView::Type::integer && entry.payload >= before &&
        entry.payload < direct_.size() && direct_[entry.payload].id == 0)
      direct_[entry.payload] = {entry.key, v + 1};
  }
}

void History::VersionTable::intern(KeyId key, std::span<const ValueView> values,
                                   std::vector<VersionId>& to) {
  constexpr size_t kWindow = 64;  // lookups that overlap
  uint64_t hashes[kWindow];
  while (!values.empty()) {
    const auto some = values.first(std::min(kWindow, values.size()));
    values = values.subspan(some.size());
    for (size_t i = 0; i < some.size(); ++i) hashes[i] = prefetch(key, some[i]);
    for (size_t i = 0; i < some.size(); ++i) hashes[i] = prefetch_entry(key, some[i], hashes[i]);
    for (size_t i = 0; i < some.size(); ++i)
      internal::push_back_roomy(to, intern(key, some[i], hashes[i]));
  }
}

VersionId History::VersionTable::intern(KeyId key, const ValueView& v, uint64_t hash) {
  if (v.is_null() && key != kNone) return intern_null(key);
  if (!is_direct(v)) {
    if (!is_small(v, entries_.size())) return intern_hashed(key, v, hash);
    grow_direct(static_cast<uint64_t>(v.integer));
  }
  Direct& place = direct_[static_cast<size_t>(v.integer)];
  if (place.id == 0) place = {key, add(key, v) + 1};
  return place.key == key ? place.id - 1 : intern_hashed(key, v, hash);
}

VersionId History::VersionTable::intern_hashed(KeyId key, const ValueView& v, uint64_t hash) {
  if (hash == 0) hash = internal::hash_version(key, v);
  if (overfull(slots_, hashed_)) grow_slots(slots_);
  const size_t mask = slots_.size() - 1;
  size_t i = home(hash, slots_.size());
  for (; slots_[i] != 0; i = (i + 1) & mask) {
    if (tag_of(slots_[i]) != tag_of(hash)) continue;
    const uint32_t id = static_cast<uint32_t>(slots_[i]) - 1;
    const Entry& entry = entries_[id];
    if (entry.key == key && same(v, entry.payload, entry.type, text_)) return id;
  }
  const VersionId id = add(key, v);
  slots_[i] = tag_of(hash) | (id + 1);
  ++hashed_;
  return id;
}

ValueView History::VersionTable::value(VersionId v) const {
  return view_of(entries_[v].payload, entries_[v].type, text_);
}

void History::VersionTable::set_initial(const ValueView& v) {
  initial_type_ = v.type;
  initial_integer_ = v.integer;
  initial_text_ = std::string(v.text);
}

ValueView History::VersionTable::initial() const {
  if (initial_type_ == ValueView::Type::string || initial_type_ == ValueView::Type::row)
    return {initial_type_, 0, initial_text_};
  return {initial_type_, initial_integer_, {}};
}

bool History::VersionTable::set_own_initial(VersionId v) {
  const KeyId k = key(v);
  if (own_initial_.size() <= k) own_initial_.resize(size_t{k} + 1, kNone);
  return std::exchange(own_initial_[k], v) == kNone;
}

bool History::VersionTable::is_initial(VersionId v) const {
  if (const VersionId own = own_initial(key(v)); own != kNone) return own == v;
  return same(initial(), entries_[v].payload, entries_[v].type, text_);
}

uint64_t History::VersionTable::bytes_to_grow(size_t versions, size_t text) const {
  return bytes_to_grow_slots(slots_, hashed_ + versions) +
         bytes_to_grow_direct(direct_, size() + versions) +
         internal::growth_bytes(entries_, versions) + internal::growth_bytes(text_, text);
}

uint64_t History::VersionTable::memory_bytes() const {
  return entries_.capacity() * sizeof(Entry) + text_.capacity() + slots_.capacity() * 8 +
         direct_.capacity() * sizeof(Direct) + nulls_.capacity() * 4 +
         own_initial_.capacity() * sizeof(VersionId);
}

}  // namespace assay
