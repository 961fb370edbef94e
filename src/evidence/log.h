// The content of a database's log, whichever the database: transactions in the order in which they
// were committed, and the changes of each. A database is one file that reads its log, and a line in
// registry.cc.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"
#include "collect/version_log.h"
#include "history/value.h"

namespace assay::internal::evidence {

// An installed version. Each element of a list is one.
struct Change {
  Value key;
  Value value;  // null: the key was deleted
};

struct LoggedTxn {
  std::string name;       // in the history; empty if the log does not have it
  std::string server_id;  // on the server; empty if the log does not have it
  std::string position;   // in the log, as the server writes it
  std::vector<Change> changes;
};

// The end of the part of a log that was read.
struct LogEnd {
  std::string position;
  std::string missing;  // why something may be missing before that; empty if nothing is
  // No session of the run was left on the server then: the log is final.
  bool sessions_ended = false;
  // The server's numbers are those of its snapshots, and none was used twice.
  bool numbers_name_txns = false;
};

class Log {
 public:
  virtual ~Log() = default;
  virtual std::string source() const = 0;
  // Marks the current position in the log, before the first transaction.
  virtual Status start() = 0;
  // That position, in the form that `resume` reads; empty if it needs none.
  virtual std::string begins() const { return ""; }
  // Instead of `start`: goes to the position that the log had before the first transaction of a
  // killed run.
  virtual Status resume(const std::string& /*begins*/) {
    return usage_error("the start of a killed run cannot be found in " + source());
  }
  // Reports the end of an attempt. From any thread; for logs built from what sessions report.
  virtual void ended(const collect::TxnRecord&) {}
  // Returns every transaction after that position that had committed when this was called, in
  // commit order.
  virtual Result<LogEnd> read(const std::function<void(LoggedTxn)>& take) = 0;
};

struct LogInfo {
  std::string_view scheme, alias;  // of the URL
  std::string_view summary;
  Result<std::unique_ptr<Log>> (*open)(const collect::VersionLogOptions&);
  bool reads_rows = false;  // of the user's own tables (run --sql)
};

std::span<const LogInfo> all_logs();

// Reads the log of the database with these endpoints, for collect::RunOptions.
Result<std::unique_ptr<collect::VersionLog>> open_version_log(
    const collect::VersionLogOptions& options);
// The content of a log, as lines of the history.
std::unique_ptr<collect::VersionLog> version_orders_of(std::unique_ptr<Log> log);

// One file each.
Result<std::unique_ptr<Log>> open_sqlite_log(const collect::VersionLogOptions& options);
Result<std::unique_ptr<Log>> open_timestamp_log(const collect::VersionLogOptions& options);
#ifdef ASSAY_POSTGRESQL
Result<std::unique_ptr<Log>> open_postgresql_log(const collect::VersionLogOptions& options);
#endif
#ifdef ASSAY_MYSQL
// MariaDB's log, or TiDB's timestamps.
Result<std::unique_ptr<Log>> open_mysql_log(const collect::VersionLogOptions& options);
#endif
#ifdef ASSAY_REDIS
Result<std::unique_ptr<Log>> open_redis_log(const collect::VersionLogOptions& options);
#endif
#ifdef ASSAY_CURL
Result<std::unique_ptr<Log>> open_etcd_log(const collect::VersionLogOptions& options);
#endif

}  // namespace assay::internal::evidence
