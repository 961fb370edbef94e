// The interners of the store: outside keys and values to dense ids.
//
// Both tables are open addressing with linear probing over 8-byte slots (hash tag, id). A probe
// touches the payload only when the 32-bit tag agrees, so a lookup is one cache miss in the slots
// and, on a hit, one in the payload. `prefetch` lets the builder overlap the misses of one
// transaction.

#include "assay/history.h"
#include "base/hash.h"
#include "history/value_hash.h"

namespace assay {
namespace {

constexpr size_t kFirstSlots = 1024;

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
  if (type == ValueView::Type::string) return unpack_text(pool, payload) == v.text;
  return type == ValueView::Type::null || payload == static_cast<uint64_t>(v.integer);
}

uint64_t payload_of(const ValueView& v, std::string& pool) {
  return v.type == ValueView::Type::string ? pack_text(pool, v.text)
                                           : static_cast<uint64_t>(v.integer);
}

ValueView view_of(uint64_t payload, ValueView::Type type, const std::string& pool) {
  if (type == ValueView::Type::string) return ValueView::of(unpack_text(pool, payload));
  return {type, static_cast<int64_t>(payload), {}};
}

// Doubles `slots`, finding each id's hash again from its tag and `rehash(id)`.
template <class Rehash>
void grow_slots(std::vector<uint64_t>& slots, size_t count, Rehash rehash) {
  std::vector<uint64_t> bigger(slots.empty() ? kFirstSlots : slots.size() * 2);
  const size_t mask = bigger.size() - 1;
  for (uint32_t id = 0; id < count; ++id) {
    const uint64_t hash = rehash(id);
    size_t i = hash & mask;
    while (bigger[i] != 0) i = (i + 1) & mask;
    bigger[i] = tag_of(hash) | (id + 1);
  }
  slots = std::move(bigger);
}

}  // namespace

uint64_t hash_value(const ValueView& v) {
  switch (v.type) {
    case ValueView::Type::null:
      return 0x6E756C6Cull;
    case ValueView::Type::integer:
      return mix64(static_cast<uint64_t>(v.integer));
    case ValueView::Type::string:
      return hash_bytes(v.text);
  }
  return 0;
}

uint64_t hash_version(KeyId key, const ValueView& v) {
  return mix64(hash_value(v) + key * 0xD1B54A32D192ED03ull);
}

void History::ValueTable::grow() {
  grow_slots(slots_, payload_.size(), [this](uint32_t id) { return hash_value(view(id)); });
}

void History::ValueTable::prefetch(uint64_t hash) const {
  if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
}

uint32_t History::ValueTable::intern(const ValueView& v, uint64_t hash) {
  if (payload_.size() * 3 >= slots_.size() * 2) grow();
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  for (; slots_[i] != 0; i = (i + 1) & mask) {
    if (tag_of(slots_[i]) != tag_of(hash)) continue;
    const uint32_t id = static_cast<uint32_t>(slots_[i]) - 1;
    if (same(v, payload_[id], type_[id], text_)) return id;
  }
  const uint32_t id = static_cast<uint32_t>(payload_.size());
  slots_[i] = tag_of(hash) | (id + 1);
  payload_.push_back(payload_of(v, text_));
  type_.push_back(v.type);
  return id;
}

ValueView History::ValueTable::view(uint32_t id) const {
  return view_of(payload_[id], type_[id], text_);
}

uint64_t History::ValueTable::memory_bytes() const {
  return payload_.capacity() * 8 + type_.capacity() + text_.capacity() + slots_.capacity() * 8;
}

void History::VersionTable::grow() {
  grow_slots(slots_, key_.size(),
             [this](uint32_t id) { return hash_version(key_[id], value(id)); });
}

void History::VersionTable::prefetch(uint64_t hash) const {
  if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
}

VersionId History::VersionTable::intern(KeyId key, const ValueView& v, uint64_t hash) {
  if (key_.size() * 3 >= slots_.size() * 2) grow();
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  for (; slots_[i] != 0; i = (i + 1) & mask) {
    if (tag_of(slots_[i]) != tag_of(hash)) continue;
    const uint32_t id = static_cast<uint32_t>(slots_[i]) - 1;
    if (key_[id] == key && same(v, payload_[id], type_[id], text_)) return id;
  }
  const VersionId id = static_cast<VersionId>(key_.size());
  slots_[i] = tag_of(hash) | (id + 1);
  key_.push_back(key);
  payload_.push_back(payload_of(v, text_));
  type_.push_back(v.type);
  return id;
}

ValueView History::VersionTable::value(VersionId v) const {
  return view_of(payload_[v], type_[v], text_);
}

void History::VersionTable::set_initial(const ValueView& v) {
  initial_type_ = v.type;
  initial_integer_ = v.integer;
  initial_text_ = std::string(v.text);
}

ValueView History::VersionTable::initial() const {
  if (initial_type_ == ValueView::Type::string)
    return ValueView::of(std::string_view(initial_text_));
  return {initial_type_, initial_integer_, {}};
}

bool History::VersionTable::is_initial(VersionId v) const {
  return same(initial(), payload_[v], type_[v], text_);
}

uint64_t History::VersionTable::memory_bytes() const {
  return key_.capacity() * 4 + payload_.capacity() * 8 + type_.capacity() + text_.capacity() +
         slots_.capacity() * 8;
}

}  // namespace assay
