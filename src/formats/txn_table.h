// Transactions of several histories by their lines, written and read back as one history.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "base/byte_stream.h"
#include "history/held_value.h"

namespace assay::internal::formats {

class TxnTableWriter {
 public:
  // Adds a transaction; the same line is the same transaction. The session's earlier transactions
  // must be in earlier lines.
  void add(uint64_t line, const std::shared_ptr<const History>& h, TxnId t) {
    txns_.try_emplace(line, h, t);
  }
  Status write(StreamWriter& to) const;

 private:
  std::map<uint64_t, std::pair<std::shared_ptr<const History>, TxnId>> txns_;
};

class TxnTable {
 public:
  static Result<TxnTable> read(StreamReader& from);

  const std::shared_ptr<const History>& history() const { return history_; }
  // The transaction of a line; kNone if the line is missing.
  TxnId find(uint64_t line) const;
  // The key's number; kNone if no transaction uses the key.
  KeyId key(const ValueView& key) const;

 private:
  std::shared_ptr<const History> history_;
  std::vector<uint64_t> lines_;  // indexed by transaction; ascending
  std::unordered_map<ValueView, KeyId, HeldHash, HeldEqual> keys_;
};

}  // namespace assay::internal::formats
