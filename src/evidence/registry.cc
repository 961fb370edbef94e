#include <string>

#include "evidence/log.h"

namespace assay::internal::evidence {

std::span<const LogInfo> all_logs() {
  static const LogInfo logs[] = {
      {"exec", "exec+unix", "the commit_ts that the program reports", open_timestamp_log},
      {"sqlite", "", "triggers that log each change in the transaction", open_sqlite_log},
#ifdef ASSAY_POSTGRESQL
      {"postgresql", "postgres", "logical decoding; needs wal_level=logical and REPLICATION",
       open_postgresql_log, true},
#endif
#ifdef ASSAY_MYSQL
      {"mysql", "mariadb",
       "MariaDB's binary log, which needs log_bin, ROW, and REPLICATION SLAVE; TiDB's commit "
       "timestamps",
       open_mysql_log},
#endif
#ifdef ASSAY_REDIS
      {"redis", "rediss", "the append-only file, which must be readable here", open_redis_log},
#endif
#ifdef ASSAY_CURL
      {"etcd", "etcds", "the revisions, by watching from the first on", open_etcd_log},
#endif
  };
  return logs;
}

}  // namespace assay::internal::evidence
