#include "certify/chain_late.h"

#include <algorithm>

#include "history/value_bytes.h"

namespace assay::internal::certify {

void LateTxns::add(uint64_t line, const Txn& t) {
  txns_.emplace(line, t);
  for (const Access& a : accesses(t.history(), t.txn)) {
    if (!a.writes()) continue;
    std::vector<uint64_t>& lines = keys_[HeldValue(t.history().key(a.key))];
    if (lines.empty() || lines.back() != line) lines.push_back(line);
  }
}

void LateTxns::release(uint64_t line) {
  const auto late = txns_.find(line);
  if (late == txns_.end()) return;
  for (const KeyId k : shown_keys(line)) {
    const auto key = keys_.find(late->second.history().key(k));
    if (key == keys_.end()) continue;
    std::erase(key->second, line);
    if (key->second.empty()) keys_.erase(key);
  }
  txns_.erase(late);
}

void LateTxns::look_at(const ValueView& key) {
  if (keys_.empty()) return;
  const auto it = keys_.find(key);
  if (it == keys_.end()) return;
  for (const uint64_t line : std::vector<uint64_t>(it->second)) release(line);
}

void LateTxns::overwrite(const ValueView& key, uint64_t before) {
  if (keys_.empty()) return;
  const auto it = keys_.find(key);
  if (it == keys_.end()) return;
  const auto end = std::ranges::find(it->second, before);
  const std::vector<uint64_t> hidden(it->second.begin(), end);
  it->second.erase(it->second.begin(), end);
  if (it->second.empty()) keys_.erase(it);
  for (const uint64_t line : hidden)
    if (shown_keys(line).empty()) txns_.erase(line);
}

std::vector<KeyId> LateTxns::shown_keys(uint64_t line) const {
  std::vector<KeyId> keys;
  const Txn& t = txns_.find(line)->second;
  for (const Access& a : accesses(t.history(), t.txn)) {
    if (!a.writes()) continue;
    const auto key = keys_.find(t.history().key(a.key));
    if (key != keys_.end() && std::ranges::count(key->second, line) > 0) keys.push_back(a.key);
  }
  return keys;
}

void LateTxns::clear() {
  txns_.clear();
  keys_.clear();
}

void LateTxns::save(StreamWriter& to) const {
  to.number(txns_.size());
  for (const auto& [line, t] : txns_) to.number(line);
  to.number(keys_.size());
  for (const auto& [key, lines] : keys_) {
    put_value(to, key.view());
    to.number(lines.size());
    for (const uint64_t line : lines) to.number(line);
  }
}

void LateTxns::load_keys(StreamReader& from) {
  for (size_t n = from.count(); n > 0; --n) {
    std::vector<uint64_t>& lines = keys_[take_value(from)];
    for (size_t m = from.count(); m > 0; --m) {
      lines.push_back(from.number());
      if (!contains(lines.back())) from.fail();
    }
  }
}

}  // namespace assay::internal::certify
