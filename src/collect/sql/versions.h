// The versions of rows that the sessions of a run wrote, by their names: an UPDATE returns only the
// name of the version that it replaced.
#pragma once

#include <array>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace assay::internal::collect::sql {

class Versions {
 public:
  // The last few versions of each key are kept.
  static constexpr size_t kKept = 32;

  void note(const std::string& key, std::string name, std::string row) {
    Shard& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    auto& known = shard.rows[key];
    known.emplace_back(std::move(name), std::move(row));
    if (known.size() > kKept) known.pop_front();
  }

  std::optional<std::string> find(const std::string& key, std::string_view name) {
    Shard& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    const auto known = shard.rows.find(key);
    if (known == shard.rows.end()) return std::nullopt;
    for (const auto& [other, row] : known->second)
      if (other == name) return row;
    return std::nullopt;
  }

 private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::string, std::deque<std::pair<std::string, std::string>>> rows;
  };
  Shard& shard_of(const std::string& key) {
    return shards_[std::hash<std::string>{}(key) % shards_.size()];
  }

  std::array<Shard, 64> shards_;
};

}  // namespace assay::internal::collect::sql
