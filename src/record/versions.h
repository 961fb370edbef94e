// The versions of each row, by the log, and their writers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collect/schedule/row_history.h"
#include "record/seen.h"

namespace assay::internal::record {

class Versions {
 public:
  explicit Versions(const Seen& seen) : seen_(seen) {}

  // The next transaction of the log, whose client's it is (none: nth is 0). What TRUNCATE removes
  // becomes one change for each row.
  void add(LoggedChanges& logged, const ClientTxn& client);
  size_t size() const { return writers_.size(); }
  std::string name(size_t log) const;

  // The read of a version; nothing if its writer is unknown or the reader.
  struct Read {
    std::optional<collect::schedule::RowOperation> op = {};
    bool unattributed = false;
  };
  Read read(const SeenVersion& version, const ClientTxn& reader, bool may_have_number);
  // What a change replaced; nothing where nothing was there, or that is of this transaction.
  std::optional<collect::schedule::RowOperation> replaced(const std::string& key, size_t log);

  // Forgets the versions that transactions of the log before this one replaced: no transaction can
  // read them any more.
  void forget_replaced_before(size_t log);
  // The first of the log that a snapshot does not see.
  size_t first_unseen(const std::set<uint32_t>& going_on, size_t logged) const;

  // The initial versions, and the order of all.
  void state(collect::schedule::RowSink& history) const;

 private:
  // Of a key: which transactions of the log left a version, and what the last of these hold, which
  // may still be read.
  struct Versioned {
    struct Install {
      uint32_t log : 31;
      uint32_t removed : 1;
    };
    std::vector<Install> order;
    std::vector<std::string> rows;
    size_t forgotten = 0;                   // of the order
    std::optional<std::string> first = {};  // that was there before

    const std::string& row(size_t place) const { return rows[place - order.size() + rows.size()]; }
    void forget_one();
  };
  struct Writer {
    ClientTxn client;
    uint32_t number = 0;
    uint32_t readable = 0;  // versions
  };
  void add_change(const LoggedChange& change);
  void install(const std::string& key, bool removed, const std::string& row, bool was_there);
  std::vector<LoggedChange> removals(const std::string& table) const;
  bool has_version(const Versioned& of, uint32_t number) const;
  const std::string& first_row(const std::string& key, Versioned& of);
  collect::schedule::RowOperation stated(const std::string& key, const Versioned& of,
                                         size_t place) const;

  const Seen& seen_;
  std::vector<Writer> writers_;                       // by place in the log
  std::unordered_map<uint32_t, uint32_t> by_number_;  // those of which a version may be read
  std::unordered_map<uint32_t, std::vector<uint32_t>> below_;  // numbers of their savepoints
  std::map<std::string, Versioned> versions_;                  // by key
  // Versions with the transaction that replaced them, in the order of the log.
  std::deque<std::pair<uint32_t, Versioned*>> replaced_;
};

}  // namespace assay::internal::record
