// The versions of each row, by the log, and their writers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/schedule/row_history.h"
#include "record/seen.h"

namespace assay::internal::record {

class Versions {
 public:
  static constexpr size_t kNoClient = SIZE_MAX;

  explicit Versions(const Seen& seen) : seen_(seen) {}

  // The next transaction of the log, its name, and its number among the clients'.
  void add(const LoggedChanges& logged, const std::string& name, size_t client);
  size_t size() const { return writers_.size(); }
  const std::string& name(size_t log) const { return writers_[log].name; }
  size_t client(size_t log) const { return writers_[log].client; }

  // The read of a version; nothing if its writer is unknown or the reader.
  struct Read {
    std::optional<collect::schedule::RowOperation> op = {};
    bool unattributed = false;
  };
  Read read(const SeenVersion& version, size_t reader, bool may_have_number);
  // What a change replaced; nothing where nothing was there, or that is of this transaction.
  std::optional<collect::schedule::RowOperation> replaced(const std::string& key, size_t log);

  // The initial versions, and the order of all.
  void state(collect::schedule::RowHistory& history) const;

 private:
  // What a logged transaction left behind of a key.
  struct Install {
    size_t log = 0;  // which one
    bool removed = false;
    std::string row;
  };
  struct Writer {
    std::string name;
    size_t client = kNoClient;
  };
  void install(const std::string& key, Install version, bool was_there);
  const Install* install_of(const std::string& key, size_t log) const;
  const std::string& first_row(const std::string& key);
  collect::schedule::RowOperation stated(const std::string& key, const Install& version) const;

  const Seen& seen_;
  std::vector<Writer> writers_;
  std::unordered_map<uint32_t, size_t> by_number_;
  std::map<std::string, std::vector<Install>> installs_;
  std::map<std::string, std::string> first_;  // that were there before, and what they held
};

}  // namespace assay::internal::record
