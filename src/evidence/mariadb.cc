// MariaDB: the binary log, read as a replica reads it. Transactions are in it in the order of their
// commits, which is the order of the versions of each row, since a row stays locked until its
// writer commits. Rows are logged with the text of their statement, which assay's sessions prefix
// with the transaction's name. The nodes of a Galera cluster each log everything if they are
// configured to; their orders are compared with each other.
#ifdef ASSAY_MYSQL
#include <fmt/format.h>
#include <mysql.h>
// Needs what mysql.h declares.
#include <mariadb_rpl.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <thread>
#include <unordered_map>

#include "collect/drivers/text_values.h"
#include "collect/url.h"
#include "evidence/binlog_rows.h"
#include "evidence/log.h"
#include "evidence/rows.h"

namespace assay::internal::evidence {
namespace {

constexpr unsigned kMariadbDefaultPort = 3306;
// An id that no replica is likely to use.
constexpr unsigned kServerId = 0x61737361;
constexpr auto kMariadbReconnectFor = std::chrono::seconds(30);
constexpr auto kMariadbReconnectPause = std::chrono::milliseconds(200);

struct CloseMariadb {
  void operator()(MYSQL* c) const { mysql_close(c); }
};
struct FreeResult {
  void operator()(MYSQL_RES* r) const { mysql_free_result(r); }
};
struct CloseReplica {
  void operator()(MARIADB_RPL* r) const { mariadb_rpl_close(r); }
};
struct FreeEvent {
  void operator()(MARIADB_RPL_EVENT* e) const { mariadb_free_rpl_event(e); }
};
using Connection = std::unique_ptr<MYSQL, CloseMariadb>;

std::string text_of(const MARIADB_STRING& s) { return {s.str, s.length}; }
const char* given(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

// A statement begins with its transaction's name: /*3-17*/
std::string name_in(std::string_view statement) {
  if (!statement.starts_with("/*")) return {};
  const size_t end = statement.find("*/");
  return std::string(statement.substr(2, end == std::string_view::npos ? 0 : end - 2));
}

// The state that the events of the log build up.
class Binlog {
 public:
  Binlog(std::string database, const std::vector<collect::Table>& tables)
      : database_(std::move(database)) {
    columns_["assay_kv"] = {"v"};
    columns_["assay_list"] = {"v"};
    for (const collect::Table& t : tables) columns_["assay_" + t.name] = t.columns;
  }

  // False if the log holds something that this cannot read.
  bool event(const MARIADB_RPL_EVENT& e, const std::string& file,
             const std::function<void(LoggedTxn)>& take) {
    switch (e.event_type) {
      case GTID_EVENT:
        txn_ = {};
        txn_.position =
            fmt::format("{}-{}-{}", e.event.gtid.domain_id, e.server_id, e.event.gtid.sequence_nr);
        return true;
      case ANNOTATE_ROWS_EVENT:
        if (txn_.name.empty()) txn_.name = name_in(text_of(e.event.annotate_rows.statement));
        return true;
      case TABLE_MAP_EVENT:
        tables_[e.event.table_map.table_id] = {
            text_of(e.event.table_map.database), text_of(e.event.table_map.table),
            text_of(e.event.table_map.column_types), text_of(e.event.table_map.metadata)};
        return true;
      case QUERY_EVENT:
        if (text_of(e.event.query.statement) == "COMMIT") finish(file, e.next_event_pos, take);
        if (text_of(e.event.query.statement) == "ROLLBACK") txn_ = {};
        return true;
      case XID_EVENT:
        finish(file, e.next_event_pos, take);
        return true;
      default:
        return !IS_ROW_EVENT(&e) || rows(e.event.rows);
    }
  }

 private:
  bool rows(const st_mariadb_rpl_rows_event& e) {
    const auto table = tables_.find(e.table_id);
    if (table == tables_.end()) return false;
    const auto columns = columns_.find(table->second.name);
    if (columns == columns_.end() || table->second.database != database_) return true;
    if (e.compressed != 0) return false;
    const auto rows =
        binlog_rows(table->second, {static_cast<const char*>(e.row_data), e.row_data_size});
    if (!rows) return false;
    const size_t step = e.type == UPDATE_ROWS ? 2 : 1;
    for (size_t i = step - 1; i < rows->size(); i += step) {
      const BinlogRow& row = (*rows)[i];
      const std::string key = row[0].value_or("");
      if (e.type == DELETE_ROWS) {
        rows_.erase(table->second.name, key, txn_.changes);
        continue;
      }
      Cells cells;
      for (size_t c = 0; c < columns->second.size() && c + 1 < row.size(); ++c)
        cells.emplace_back(columns->second[c], row[c + 1]);
      rows_.put(table->second.name, key, cells, txn_.changes);
    }
    return true;
  }

  void finish(const std::string& file, unsigned position,
              const std::function<void(LoggedTxn)>& take) {
    txn_.position += fmt::format(" at {}:{}", file, position);
    take(std::exchange(txn_, {}));
  }

  std::string database_;
  std::unordered_map<std::string, std::vector<std::string>> columns_;  // without the key
  std::unordered_map<uint64_t, BinlogTable> tables_;
  LoggedTxn txn_;
  Rows rows_;
};

// The log of one server.
class Server {
 public:
  Server(collect::Url url, const std::vector<collect::Table>& tables)
      : url_(std::move(url)), tables_(tables) {}

  Status start() {
    if (Status s = check_settings(); !s.ok()) return s;
    return position(file_, begin_);
  }
  // "mariadb-bin.000003:4711"
  std::string begins() const { return fmt::format("{}:{}", file_, begin_); }
  Status resume(const std::string& begins) {
    const size_t colon = begins.rfind(':');
    const char* end = begins.data() + begins.size();
    const auto [rest, error] =
        std::from_chars(colon == std::string::npos ? end : begins.data() + colon + 1, end, begin_);
    if (error != std::errc{} || rest != end)
      return usage_error("the history does not record where MariaDB's log was when the run began");
    file_ = begins.substr(0, colon);
    return check_settings();
  }
  // The log of a server that has not been started.
  bool is_tidb() {
    return connect().ok() && ask("SELECT VERSION()").find("TiDB") != std::string::npos;
  }
  bool is_node() { return ask("SELECT @@wsrep_on") == "1"; }
  bool logs_others() { return ask("SELECT @@log_slave_updates") == "1"; }

  Result<LogEnd> read(const std::function<void(LoggedTxn)>& take) {
    if (Status s = reconnect(); !s.ok()) return s.error();
    std::string last_file;
    uint64_t last = 0;
    if (Status s = position(last_file, last); !s.ok()) return s.error();
    const auto names = files();
    if (!names.ok()) return names.error();
    for (const char* sql : {"SET @mariadb_slave_capability = 4",
                            "SET @master_binlog_checksum = @@global.binlog_checksum"})
      if (mysql_query(connection_.get(), sql) != 0) return failed().error();
    const std::unique_ptr<MARIADB_RPL, CloseReplica> replica(mariadb_rpl_init(connection_.get()));
    mariadb_rpl_optionsv(replica.get(), MARIADB_RPL_FILENAME, file_.c_str(), file_.size());
    mariadb_rpl_optionsv(replica.get(), MARIADB_RPL_START, static_cast<unsigned long>(begin_));
    mariadb_rpl_optionsv(replica.get(), MARIADB_RPL_SERVER_ID, kServerId);
    mariadb_rpl_optionsv(replica.get(), MARIADB_RPL_FLAGS,
                         static_cast<unsigned>(MARIADB_RPL_BINLOG_DUMP_NON_BLOCK |
                                               MARIADB_RPL_BINLOG_SEND_ANNOTATE_ROWS));
    if (mariadb_rpl_open(replica.get()) != 0) return failed().error();
    return follow(*replica, last_file, last, *names, take);
  }

 private:
  Status check_settings() {
    if (Status s = connect(); !s.ok()) return s;
    if (ask("SELECT VERSION()").find("MariaDB") == std::string::npos)
      return usage_error("the version order is read from MariaDB's binary log; this is " +
                         ask("SELECT VERSION()"));
    if (ask("SELECT @@log_bin") != "1")
      return usage_error("MariaDB keeps no binary log; the version order needs log_bin");
    for (const auto& [name, wanted] :
         {std::pair{"binlog_format", "ROW"}, std::pair{"binlog_row_image", "FULL"}})
      if (const std::string is = ask(fmt::format("SELECT @@{}", name)); is != wanted)
        return usage_error(
            fmt::format("MariaDB has {} = {}; the version order needs {}", name, is, wanted));
    return Ok{};
  }

  // Reads up to the position that the log had when it was queried, or its end. Each file begins
  // with its description; the library's name for the next file is not reliable.
  Result<LogEnd> follow(MARIADB_RPL& replica, const std::string& last_file, uint64_t last,
                        const std::vector<std::string>& files,
                        const std::function<void(LoggedTxn)>& take) {
    Binlog binlog(url_.path, tables_);
    size_t file = 0, begun = 0;
    uint64_t at = begin_;
    while (files[file] != last_file || at < last) {
      const std::unique_ptr<MARIADB_RPL_EVENT, FreeEvent> event(
          mariadb_rpl_fetch(&replica, nullptr));
      if (!event) break;
      if (event->event_type == ROTATE_EVENT) continue;
      if (event->event_type == FORMAT_DESCRIPTION_EVENT && begun++ > 0) {
        if (++file == files.size()) return io_error("MariaDB's log has more files than it lists");
        at = 0;
      }
      if (!binlog.event(*event, files[file], take))
        return io_error("MariaDB's log holds rows that this program cannot read");
      if (event->next_event_pos > at) at = event->next_event_pos;
    }
    LogEnd end{fmt::format("{}:{}", files[file], at), ""};
    if (files[file] != last_file || at < last)
      end.missing = fmt::format("the log could be read only up to {} of {}:{}", end.position,
                                last_file, last);
    return end;
  }

  // The files from the one in which the run began.
  Result<std::vector<std::string>> files() {
    if (mysql_query(connection_.get(), "SHOW BINARY LOGS") != 0) return failed().error();
    const std::unique_ptr<MYSQL_RES, FreeResult> rows(mysql_store_result(connection_.get()));
    std::vector<std::string> files;
    while (const MYSQL_ROW row = rows ? mysql_fetch_row(rows.get()) : nullptr)
      if (row[0] == file_ || !files.empty()) files.emplace_back(row[0]);
    if (files.empty()) return io_error("MariaDB does not have " + file_ + " any more");
    return files;
  }

  Status connect() {
    connection_.reset(mysql_init(nullptr));
    const unsigned seconds = 10;
    mysql_options(connection_.get(), MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    mysql_options(connection_.get(), MYSQL_OPT_READ_TIMEOUT, &seconds);
    if (mysql_real_connect(connection_.get(), url_.host.c_str(), given(url_.user),
                           given(url_.password), given(url_.path),
                           url_.port == 0 ? kMariadbDefaultPort : url_.port, nullptr, 0) == nullptr)
      return failed();
    return Ok{};
  }

  // The connection was idle meanwhile, and the server may have restarted.
  Status reconnect() {
    const auto deadline = std::chrono::steady_clock::now() + kMariadbReconnectFor;
    while (true) {
      Status s = connect();
      if (s.ok() || std::chrono::steady_clock::now() > deadline) return s;
      std::this_thread::sleep_for(kMariadbReconnectPause);
    }
  }

  Status position(std::string& file, uint64_t& at) {
    if (mysql_query(connection_.get(), "SHOW MASTER STATUS") != 0) return failed();
    const std::unique_ptr<MYSQL_RES, FreeResult> rows(mysql_store_result(connection_.get()));
    const MYSQL_ROW row = rows ? mysql_fetch_row(rows.get()) : nullptr;
    if (row == nullptr) return io_error("MariaDB does not report its log position");
    file = row[0];
    at = std::stoull(row[1]);
    return Ok{};
  }

  std::string ask(const std::string& sql) {
    if (mysql_query(connection_.get(), sql.c_str()) != 0) return {};
    const std::unique_ptr<MYSQL_RES, FreeResult> rows(mysql_store_result(connection_.get()));
    const MYSQL_ROW row = rows ? mysql_fetch_row(rows.get()) : nullptr;
    return row == nullptr || row[0] == nullptr ? std::string() : std::string(row[0]);
  }

  Status failed() const {
    return io_error(fmt::format("MariaDB: {}", mysql_error(connection_.get())));
  }

  collect::Url url_;
  const std::vector<collect::Table>& tables_;
  Connection connection_;
  std::string file_;
  uint64_t begin_ = 0;
};

// The transactions that installed the versions of a key, in order.
using Installs = std::unordered_map<std::string, std::vector<std::string>>;

void note(const LoggedTxn& txn, Installs& to) {
  for (const Change& change : txn.changes)
    to[collect::encode_key(change.key)].push_back(
        change.value.is_null() ? "-" : collect::encode_value(change.value));
}

class MariadbLog : public Log {
 public:
  MariadbLog(const std::vector<collect::Url>& urls, const collect::VersionLogOptions& options)
      : tables_(options.tables), values_repeat_(options.values_repeat) {
    for (const collect::Url& url : urls) servers_.emplace_back(url, tables_);
  }

  std::string source() const override {
    return servers_.size() > 1 ? fmt::format("the binary logs of {} nodes", servers_.size())
                               : "MariaDB's binary log";
  }

  Status start() override {
    for (Server& server : servers_)
      if (Status s = server.start(); !s.ok()) return s;
    return leave_out_replicas();
  }

  std::string begins() const override {
    std::string all;
    for (const Server& server : servers_) all += (all.empty() ? "" : ", ") + server.begins();
    return all;
  }

  // One position for each server that the run read.
  Status resume(const std::string& begins) override {
    size_t at = 0;
    for (size_t i = 0; i < servers_.size(); ++i) {
      const size_t end = std::min(begins.find(", ", at), begins.size());
      if (Status s = servers_[i].resume(begins.substr(at, end - at)); !s.ok()) return s;
      at = std::min(end + 2, begins.size());
      if (i == 0 && !servers_.front().is_node()) break;  // replicas were not read
    }
    return leave_out_replicas();
  }

  Result<LogEnd> read(const std::function<void(LoggedTxn)>& take) override {
    Installs first;
    const bool several = servers_.size() > 1;
    Result<LogEnd> end = servers_.front().read([&](LoggedTxn txn) {
      if (several) note(txn, first);
      take(std::move(txn));
    });
    for (size_t i = 1; i < servers_.size() && end.ok() && end->missing.empty(); ++i) {
      Installs other;
      const Result<LogEnd> read = servers_[i].read([&](const LoggedTxn& txn) { note(txn, other); });
      if (!read.ok()) return read.error();
      end->missing = read->missing;
      for (const auto& [key, versions] : first)
        if (other[key] != versions)
          end->missing =
              fmt::format("node {} installed the versions of {} in a different order than node 1",
                          i + 1, collect::decode_key(key).view().to_string());
    }
    if (end.ok() && end->missing.empty() && values_repeat_)
      end->missing = "MariaDB does not log writes that change nothing, and values repeat";
    return end;
  }

 private:
  Status leave_out_replicas() {
    if (!servers_.front().is_node()) {
      while (servers_.size() > 1) servers_.pop_back();  // replicas write nothing themselves
      return Ok{};
    }
    for (Server& server : servers_)
      if (!server.logs_others())
        return usage_error(
            "a node of the cluster logs only its own writes; the version order needs "
            "log_slave_updates");
    return Ok{};
  }

  std::vector<collect::Table> tables_;
  bool values_repeat_;
  std::vector<Server> servers_;
};

}  // namespace

Result<std::unique_ptr<Log>> open_mysql_log(const collect::VersionLogOptions& options) {
  std::vector<collect::Url> urls;
  for (const std::string& text : options.urls) {
    Result<collect::Url> url = collect::Url::parse(text);
    if (!url.ok()) return url.error();
    urls.push_back(std::move(*url));
  }
  if (Server(urls.front(), options.tables).is_tidb()) return open_timestamp_log(options);
  return std::unique_ptr<Log>(std::make_unique<MariadbLog>(urls, options));
}

}  // namespace assay::internal::evidence
#endif
