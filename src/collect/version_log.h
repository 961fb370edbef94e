// An object that looks inside a database while it is driven: at the end it writes into the history
// the order in which the database says that it installed the versions of each key. The room
// `evidence` has one for each database that keeps a log; the runner only starts and ends it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"
#include "collect/schema.h"
#include "collect/sink.h"

namespace assay::internal::collect {

// The result of reading the log.
struct VersionLogReport {
  std::string source = {};  // "PostgreSQL's log, by test_decoding"; empty if nothing could be read
  std::string position = {};      // the position up to which the log was read, in the server's
                                  // words
  std::string missing = {};       // why the orders are not complete; empty if they are
  uint64_t txns = 0;              // number of transactions in the log that changed something
  uint64_t versions = 0;          // number of entries of the orders
  uint64_t unnamed = 0;           // number of transactions that the log does not name
  uint64_t queries = 0;           // number of queries by condition whose snapshot is known
  uint64_t resolved_queries = 0;  // number of these for which the log tells what they passed over
  uint64_t not_committed =
      0;  // number of transactions of unknown outcome that did not commit according to the log
  double seconds = 0;  // how long this took
};

class VersionLog {
 public:
  virtual ~VersionLog() = default;
  // Called before the first transaction, when the tables are there and empty.
  virtual Status start() = 0;
  // The position of the log at the start, in words that `resume` understands; empty if it needs
  // none.
  virtual std::string begins() const = 0;
  // Called instead of `start` if the run was killed and its log is read now. `begins`: what the
  // killed run noted.
  virtual Status resume(const std::string& begins) = 0;
  // Takes how an attempt ended, with what the session learned about it. Called from any thread.
  virtual void ended(const TxnRecord&) {}
  // Called when every session has ended, at `now` on the clock of the history. Writes the orders of
  // versions, and reports how far they are complete.
  virtual Result<VersionLogReport> write(int64_t now, Sink& sink) = 0;
};

struct VersionLogOptions {
  std::vector<std::string> urls;  // URLs of the endpoints
  std::vector<Table> tables;      // tables of the workload
  std::vector<RowTable> row_tables;
  uint64_t run = 0;
  bool values_repeat = false;    // whether the workload may write a value that is there already
  bool outlives_server = false;  // whether the server may be killed meanwhile, so that what keeps
                                 // its log must survive that
};

using OpenVersionLog =
    std::function<Result<std::unique_ptr<VersionLog>>(const VersionLogOptions& options)>;

}  // namespace assay::internal::collect
