// The rows that queries passed over, as stated by events that follow the lines of the queries:
// {"event":"passed","txn":"3-17","op":0,"versions":[["x",1]]}.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "base/json.h"

namespace assay::internal {

class PassedRows {
 public:
  // Takes the events out of the history, whose transactions and orders must be complete.
  explicit PassedRows(History& h);
  // The memory that `add` takes at most.
  uint64_t bytes() const {
    return events_.empty() ? 0 : 3 * bytes_ + sizeof(uint32_t) * h_.pool_.size();
  }
  // Adds what the events state to the queries.
  Status add();

 private:
  Status add(const Json& event);
  TxnId txn(const Json& name) const;
  std::optional<OpId> query(TxnId t, const Json& place) const;
  std::optional<VersionId> version(KeyId key, int64_t place) const;
  std::vector<KeyId> keys_of(OpId query) const;
  void pass_over(OpId query, const std::vector<VersionId>& more);

  History& h_;
  uint64_t bytes_ = 0;  // size of the events' text
  std::vector<std::string> events_;
  std::unordered_set<OpId> queries_;                     // queries to which something was added
  std::unordered_map<std::string, TxnId> named_;         // by name; kNone: several transactions
                                                         // have the name
  std::unordered_map<KeyId, const KnownOrder*> orders_;  // null: the key has several orders
  std::vector<bool> deleted_;                            // indexed by version: whether a deletion
                                                         // left it
};

}  // namespace assay::internal
