// The rows that queries by condition skipped, from the snapshots that they read and the order of
// the versions of each key:
//
//   log: 739 writes x=12; 741 writes x=7
//   3-17: p(value < 9, []), of the snapshot 740:742:741
//   {"event":"passed","txn":"3-17","op":0,"versions":[["x",1]]}
//
// The snapshot shows 739 and not 741, so the query saw the first version of x. A key is stated if
// some version of it may satisfy the condition and the one seen does not, unless the transaction
// had written the key before. If snapshot and log contradict each other, nothing is stated about
// the query.
//
// Cost: the versions of all keys for each different condition, and the logarithm of a key's
// versions for each query that they matter to. Source: Clark et al., EuroSys 2024 (version sets).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "collect/step.h"
#include "history/value.h"

namespace assay::internal::evidence {

// The versions of a key in their order, and for each the place in the log of its transaction.
struct OrderedVersions {
  collect::OrderRecord order;
  std::vector<uint32_t> writers;
};

// The names of a transaction in the history and on the server.
struct LoggedName {
  std::string name, server_id;  // as in LoggedTxn
};

class VersionSets {
 public:
  // At most this many versions are listed: no more lists are made.
  static constexpr uint64_t kMostVersions = 4'000'000;

  // Notes the queries of the transaction. From any thread.
  void ended(const collect::TxnRecord& record);
  uint64_t queries() const { return queries_.size(); }

  // Passes on an event for each query with known skipped rows; returns the number of queries whose
  // snapshots show what they saw.
  uint64_t write(const std::vector<OrderedVersions>& keys, const std::vector<LoggedName>& log,
                 const std::function<void(std::string event)>& take,
                 uint64_t most_versions = kMostVersions);

 private:
  struct Query {
    std::string txn, snapshot, condition;
    size_t op;
    Value low, high;         // bounds of keys, null: open
    std::vector<Value> own;  // keys that the transaction had written
  };

  std::mutex mutex_;
  std::deque<Query> queries_;
};

}  // namespace assay::internal::evidence
