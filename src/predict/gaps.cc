#include "predict/gaps.h"

#include <algorithm>
#include <set>

namespace assay::internal::predict {

Gaps::Gaps(const History& history, const std::vector<TxnMeta>& metas) {
  std::set<std::string> tables;
  KeyId next = history.key_count();
  const auto name = [&](const std::vector<std::string>& of, std::map<std::string, KeyId>& keys) {
    for (const std::string& table : of) {
      tables.insert(table);
      if (keys.try_emplace(table, next).second) ++next;
    }
  };
  for (const TxnMeta& t : metas) {
    name(t.reads, readers_);
    name(t.changes, changers_);
  }
  if (tables.empty()) return;
  // Rows of a table are called "accounts:7". What may be in any table counts for each table.
  const auto meant = [](const std::map<std::string, KeyId>& keys, const std::string& table) {
    std::vector<KeyId> all;
    for (const auto& [of, key] : keys)
      if (table == "*" || of == table || of == "*") all.push_back(key);
    std::sort(all.begin(), all.end());
    return all;
  };
  std::map<std::string, uint32_t> numbers;
  for (const std::string& table : tables) {
    numbers[table] = static_cast<uint32_t>(changed_with_.size());
    changed_with_.push_back(meant(readers_, table));
    met_with_.push_back(meant(changers_, table));
  }
  // For keys of tables without unrecorded operations, if some operations are in unknown tables.
  uint32_t other = 0;
  if (tables.contains("*")) {
    other = static_cast<uint32_t>(changed_with_.size());
    changed_with_.push_back(meant(readers_, ""));
    met_with_.push_back(meant(changers_, ""));
  }
  for (KeyId k = 0; k < history.key_count(); ++k) {
    const std::string key = history.key(k).to_string();
    const auto at = numbers.find(key.substr(0, key.find(':')));
    table_of_.push_back(at == numbers.end() ? other : at->second);
  }
  for (const TxnMeta& t : metas) {
    std::set<KeyId> reads, changes;
    for (const std::string& table : t.reads) {
      reads.insert(readers_.at(table));
      for (const KeyId k : met_with_[numbers.at(table)]) reads.insert(k);
    }
    for (const std::string& table : t.changes) {
      changes.insert(changers_.at(table));
      for (const KeyId k : changed_with_[numbers.at(table)]) changes.insert(k);
      for (const KeyId k : met_with_[numbers.at(table)]) changes.insert(k);
    }
    reads_.emplace_back(reads.begin(), reads.end());
    changes_.emplace_back(changes.begin(), changes.end());
  }
}

}  // namespace assay::internal::predict
