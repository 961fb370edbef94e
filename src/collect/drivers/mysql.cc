// MySQL's protocol through MariaDB's client library: MariaDB, Galera clusters, MySQL, TiDB, Dolt.
//
// Statements go as text. InnoDB and Galera may end a transaction at any call, even when a result is
// fetched. What an error means for the transaction:
//
//   1213, 1205, 1020 and their like    refused: aborted, also as the answer to COMMIT (Galera and
//                                      TiDB's optimistic transactions are judged then)
//   1105 "[try again later]"           the same: TiDB's mark of what it would itself retry. A
//                                      commit of which it does not know the outcome, it answers by
//                                      closing the connection.
//   connection lost, no answer         before COMMIT was sent: aborted, as the server undoes what
//                                      is open on a lost connection; after that: unknown
//   anything else at COMMIT            unknown
//   anything else                      fatal
//
// TiDB returns its timestamps on request: that of the start during the transaction, that of the
// commit afterwards. The results of these queries change no outcome.
//
// A lock wait that ends in 1205 undoes only the statement, so every abort is followed by a
// ROLLBACK.
#ifdef ASSAY_MYSQL
#include <fmt/format.h>
#include <mysql.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>

#include "base/json.h"
#include "collect/client_library.h"
#include "collect/drivers/description.h"
#include "collect/drivers/registry.h"
#include "collect/drivers/sql.h"
#include "collect/run_id.h"
#include "collect/url.h"

namespace assay::internal::collect {
namespace {

constexpr IsolationName kMysqlIsolations[] = {
    {"default", "what the server's transaction_isolation says"},
    {"read committed", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"},
    {"repeatable read",
     "… REPEATABLE READ; with ?innodb_snapshot_isolation=ON in the URL it refuses lost updates"},
    {"serializable", "… SERIALIZABLE"},
    {"read uncommitted", "… READ UNCOMMITTED"},
};

constexpr uint16_t kMysqlDefaultPort = 3306;

// Conflicts, time-outs and refusals: the transaction did not and will not happen.
//   1205 lock wait, 1213 deadlock or certification, 1020 changed since read, 1062 duplicate, 1047
//   node not in the cluster, 1290 1792 1836 read-only, 1317 1969 3024 interrupted, 8002 8005 8022
//   9007 TiDB's conflicts, 8028 its table was altered, 9001 to 9005 its store does not answer
constexpr unsigned kRefusals[] = {1205, 1213, 1020, 1062, 1047, 1290, 1792, 1836, 1317, 1969, 3024,
                                  8002, 8005, 8022, 8028, 9007, 9001, 9002, 9003, 9004, 9005};
// The errors of COMMIT after which nothing has happened. 1062: TiDB looks for duplicates at COMMIT.
constexpr unsigned kCommitRefusals[] = {1205, 1213, 1020, 1062, 1792, 8002, 8005, 8022, 8028, 9007};
// "Unknown error"; its text says more.
constexpr unsigned kUnnumbered = 1105;
constexpr std::string_view kTryAgain = "[try again later]";

// For the history's header; each server has some of them.
constexpr std::string_view kMysqlSettings =
    "SHOW SESSION VARIABLES WHERE Variable_name IN ('binlog_format', "
    "'innodb_flush_log_at_trx_commit', 'innodb_rollback_on_timeout', 'innodb_snapshot_isolation', "
    "'log_bin', 'sync_binlog', 'tidb_constraint_check_in_place', 'tidb_disable_txn_auto_retry', "
    "'tidb_enable_1pc', 'tidb_enable_async_commit', 'tidb_guarantee_linearizability', "
    "'tidb_txn_mode', 'transaction_isolation', 'tx_isolation', 'wsrep_on', 'wsrep_sync_wait')";

template <size_t N>
bool is_one_of(const unsigned (&codes)[N], unsigned code) {
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

// Whether the code is one of the client's own errors, or one of the server when it ends.
bool means_lost(unsigned code) {
  return (code >= 2000 && code < 3000) || code == 1053 || code == 1927 ||
         (code >= 1158 && code <= 1161);
}

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view product_of(std::string_view version) {
  for (const std::string_view product : {"MariaDB", "TiDB"})
    if (version.find(product) != std::string_view::npos) return product;
  return "MySQL";
}

// The message without the times and keys with which TiDB ends a message about a conflict: they
// would make every message different.
std::string_view without_moment(std::string_view text) {
  const size_t moment = text.find("txnStartTS");
  if (moment == std::string_view::npos) return text;
  return text.substr(0, text.substr(0, moment).find_last_not_of(" ,:") + 1);
}

// Whether a query parameter of the URL is for the client library; all others are variables of the
// session.
bool is_of_connection(std::string_view name) {
  return name == "defaults-file" || name.starts_with("ssl-");
}

struct MysqlFileOption {
  std::string_view name;
  mysql_option option;
};
constexpr MysqlFileOption kMysqlFiles[] = {{"ssl-ca", MYSQL_OPT_SSL_CA},
                                           {"ssl-cert", MYSQL_OPT_SSL_CERT},
                                           {"ssl-key", MYSQL_OPT_SSL_KEY},
                                           {"defaults-file", MYSQL_READ_DEFAULT_FILE}};

// ssl-mode=required asks for TLS without checking the certificate; naming an authority asks for the
// check.
Status set_up_connection(MYSQL* c, const Url& url) {
  my_bool tls = 0, verified = 0;
  for (const auto& [name, value] : url.query) {
    if (!is_of_connection(name)) continue;
    bool known = name == "ssl-mode";
    for (const MysqlFileOption& f : kMysqlFiles) {
      if (f.name != name) continue;
      known = true;
      mysql_options(c, f.option, value.c_str());
      if (name == "ssl-ca") tls = verified = 1;
    }
    if (!known)
      return usage_error("the URL's query has '" + name +
                         "'; expected ssl-mode, ssl-ca, ssl-cert or ssl-key");
  }
  for (const auto& [name, value] : url.query) {
    if (name != "ssl-mode") continue;
    if (value != "disabled" && value != "required" && value != "verify-identity")
      return usage_error("unknown ssl-mode '" + value +
                         "'; expected disabled, required or verify-identity");
    tls = value != "disabled";
    verified = value == "verify-identity";
  }
  if (tls) mysql_options(c, MYSQL_OPT_SSL_ENFORCE, &tls);
  if (verified) mysql_options(c, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verified);
  return Ok{};
}

// Returns null for an empty text: the library then uses its option file and MYSQL_PWD.
const char* given(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

struct CloseMysql {
  void operator()(MYSQL* c) const { mysql_close(c); }
};
using MysqlConnection = std::unique_ptr<MYSQL, CloseMysql>;

struct FreeResult {
  void operator()(MYSQL_RES* r) const { mysql_free_result(r); }
};
using Rows = std::unique_ptr<MYSQL_RES, FreeResult>;

class MysqlSession : public DriverSession {
 public:
  MysqlSession(MysqlConnection connection, const DriverOptions& options)
      : connection_(std::move(connection)), statements_(Upsert::on_duplicate_key, options.tables) {}

  Status set_up(const DriverOptions& options, const Url& url) {
    version_ = ask("SELECT VERSION()");
    product_ = product_of(version_);
    if (product_ == "MySQL" && ask("SELECT @@version_comment") == "Dolt") {
      product_ = "Dolt";
      version_ = ask("SELECT DOLT_VERSION()");
    }
    const auto seconds = std::max<int64_t>(1, options.timeout.count() / 1000);
    std::vector<std::string> settings;
    // Dolt has no locks to wait for.
    if (product_ != "Dolt")
      settings.push_back(fmt::format("SET SESSION innodb_lock_wait_timeout = {}", seconds));
    if (product_ == "MariaDB")
      settings.push_back(fmt::format("SET SESSION max_statement_time = {:.3f}",
                                     static_cast<double>(options.timeout.count()) / 1000));
    if (options.isolation != "default")
      settings.push_back("SET SESSION TRANSACTION ISOLATION LEVEL " + options.isolation);
    for (const auto& [name, value] : url.query)
      if (!is_of_connection(name))
        settings.push_back(fmt::format("SET SESSION {} = {}", name, value));
    for (const std::string& sql : settings)
      if (Status s = run(sql); !s.ok()) return s;
    read_only_ = ask("SELECT @@global.read_only") == "1";
    tells_times_ = options.named && product_ == "TiDB";
    return Ok{};
  }

  bool read_only() const override { return read_only_; }

  // The server's log has the text of each statement that changes something, comments included.
  void name_transaction(std::string_view txn) override { mark_ = fmt::format("/*{}*/ ", txn); }

  CallResult begin() override { return query("START TRANSACTION", false); }

  CallResult call(const Request& request, Reply& reply) override {
    const SqlCall sql = statements_.of(request);
    if (sql.sql.empty()) return CallResult::fatal("MySQL: unsupported kind of operation");
    CallResult result = query(mark_ + filled_in(sql), false);
    if (!result.ok()) return result;
    TextRows rows;
    if (rows_) rows = all_rows();
    take_reply(request, rows, mysql_affected_rows(connection_.get()), reply);
    return result;
  }

  CallResult execute(const SqlCommand& command, SqlAnswer& answer) override {
    CallResult result = query(filled_in(command), false);
    if (!result.ok()) return result;
    if (!rows_) {
      answer.changed = mysql_affected_rows(connection_.get());
      return result;
    }
    const unsigned columns = mysql_num_fields(rows_.get());
    while (const MYSQL_ROW row = mysql_fetch_row(rows_.get())) {
      auto& cells = answer.rows.emplace_back();
      for (unsigned i = 0; i < columns; ++i) cells.push_back(cell_at(row, i));
    }
    return result;
  }

  CallResult commit() override {
    times_ = {};
    if (tells_times_)
      if (CallResult asked = learn_start(); !asked.ok()) return asked;
    CallResult result = query("COMMIT", true);
    if (result.ok() && tells_times_ && !learn_commit()) result.session_lost = true;
    return result;
  }
  Status speak(std::span<const std::string> statements, std::vector<Spoken>& answers) override {
    for (const std::string& sql : statements) {
      Spoken& spoken = answers.emplace_back();
      rows_.reset();
      bool failed = mysql_real_query(connection_.get(), sql.data(), sql.size()) != 0;
      if (!failed) rows_.reset(mysql_store_result(connection_.get()));
      failed = failed || (!rows_ && mysql_errno(connection_.get()) != 0);
      if (rows_) take_rows(spoken);
      if (failed) {
        const unsigned code = mysql_errno(connection_.get());
        spoken.error = fmt::format("{} {}", code, without_moment(mysql_error(connection_.get())));
        if (means_lost(code)) return io_error("MySQL: " + spoken.error);
        // An error does not say whether the transaction is still open; the next statement does.
        if (mysql_real_query(connection_.get(), "DO 0", 4) != 0)
          return io_error(fmt::format("MySQL: {}", mysql_error(connection_.get())));
      }
      spoken.open = (connection_->server_status & SERVER_STATUS_IN_TRANS) != 0;
      if (failed) break;
    }
    return Ok{};
  }
  uint64_t backend() const override { return mysql_thread_id(connection_.get()); }
  OwnTimes own_times() const override { return times_; }

  CallResult abort() override {
    return CallResult::aborted("rolled back by the client", !roll_back());
  }

  Status run(const std::string& sql) {
    const CallResult result = query(sql, false);
    if (!result.ok()) return io_error(result.message);
    return Ok{};
  }
  std::string ask(const std::string& sql) {
    if (!run(sql).ok() || !rows_) return {};
    const MYSQL_ROW row = mysql_fetch_row(rows_.get());
    return row != nullptr ? std::string(text_at(row, 0)) : std::string();
  }
  // The settings that the server knows.
  Settings settings() {
    Settings found;
    if (!run(std::string(kMysqlSettings)).ok() || !rows_) return found;
    while (const MYSQL_ROW row = mysql_fetch_row(rows_.get()))
      if (row[1] != nullptr) found.emplace_back(text_at(row, 0), text_at(row, 1));
    return found;
  }
  const std::string& version() const { return version_; }
  std::string_view product() const { return product_; }
  const SqlStatements& statements() const { return statements_; }

 private:
  std::string_view text_at(MYSQL_ROW row, unsigned column) const {
    return {row[column], mysql_fetch_lengths(rows_.get())[column]};
  }
  Value cell_at(MYSQL_ROW row, unsigned column) const {
    if (row[column] == nullptr) return {};
    const std::string_view text = text_at(row, column);
    if (mysql_fetch_field_direct(rows_.get(), column)->type != MYSQL_TYPE_LONGLONG)
      return Value::of(std::string(text));
    return Value::of(parse_integer(text).value_or(0));
  }

  void take_rows(Spoken& spoken) {
    const unsigned columns = mysql_num_fields(rows_.get());
    for (unsigned c = 0; c < columns; ++c)
      spoken.columns.emplace_back(mysql_fetch_field_direct(rows_.get(), c)->name);
    spoken.rows = all_rows();
  }
  TextRows all_rows() {
    TextRows all;
    const unsigned columns = mysql_num_fields(rows_.get());
    while (const MYSQL_ROW row = mysql_fetch_row(rows_.get())) {
      auto& cells = all.emplace_back();
      for (unsigned c = 0; c < columns; ++c)
        cells.push_back(row[c] == nullptr ? std::nullopt
                                          : std::optional<std::string>(text_at(row, c)));
    }
    return all;
  }

  std::string quoted(std::string_view text) {
    std::string escaped(2 * text.size() + 1, '\0');
    escaped.resize(
        mysql_real_escape_string(connection_.get(), escaped.data(), text.data(), text.size()));
    return '\'' + escaped + '\'';
  }
  // The statement with its parameters as literals.
  std::string filled_in(const SqlCommand& command) {
    std::string sql;
    for (size_t i = 0; i < command.sql.size(); ++i) {
      if (command.sql[i] != '$') {
        sql += command.sql[i];
        continue;
      }
      size_t number = 0;
      const char* const digits = command.sql.data() + i + 1;
      const auto parsed = std::from_chars(digits, command.sql.data() + command.sql.size(), number);
      i += static_cast<size_t>(parsed.ptr - digits);
      const Value& value = command.parameters[number - 1];
      sql += value.is_null()      ? "NULL"
             : value.is_integer() ? std::to_string(value.integer)
                                  : quoted(value.text);
    }
    return sql;
  }
  std::string filled_in(const SqlCall& call) {
    std::string sql;
    for (size_t i = 0; i < call.sql.size(); ++i) {
      if (call.sql[i] != '$') {
        sql += call.sql[i];
        continue;
      }
      sql += quoted(call.parameters[static_cast<size_t>(call.sql[++i] - '1')]);
    }
    return sql;
  }

  // Sends the query and takes the whole answer, into rows_ if it has rows.
  CallResult query(const std::string& sql, bool committing) {
    rows_.reset();
    if (mysql_real_query(connection_.get(), sql.data(), sql.size()) != 0) return failed(committing);
    rows_.reset(mysql_store_result(connection_.get()));
    if (!rows_ && mysql_errno(connection_.get()) != 0) return failed(committing);
    return {};
  }

  CallResult failed(bool committing) {
    const unsigned code = mysql_errno(connection_.get());
    const std::string_view text = mysql_error(connection_.get());
    const bool try_again = code == kUnnumbered && text.starts_with(kTryAgain);
    std::string message = fmt::format("{} {}", code, without_moment(text));
    if (means_lost(code)) {
      if (committing) return CallResult::unknown(std::move(message));
      return CallResult::aborted(std::move(message), true);
    }
    if (committing && !try_again && !is_one_of(kCommitRefusals, code))
      return CallResult::unknown(std::move(message));
    if (!try_again && !is_one_of(kRefusals, code)) return CallResult::fatal("MySQL: " + message);
    return CallResult::aborted(std::move(message), !roll_back());
  }

  // Learns the start. May fail like any statement of the transaction.
  CallResult learn_start() {
    CallResult result = query("SELECT @@tidb_current_ts", false);
    const MYSQL_ROW row = result.ok() && rows_ ? mysql_fetch_row(rows_.get()) : nullptr;
    if (row == nullptr) return result;
    if (const auto start = parse_integer(text_at(row, 0)); start && *start > 0)
      times_.start_ts = *start;
    return result;
  }

  // Asks TiDB for the commit of the session's last transaction that wrote; early versions do not
  // tell. False if the connection is lost.
  bool learn_commit() {
    const std::string told = ask("SELECT @@tidb_last_txn_info");
    const auto info = Json::parse(told);
    if (info.is_object() && info.value("start_ts").integer() == times_.start_ts &&
        info.value("commit_ts").integer() > 0)
      times_.commit_ts = info.value("commit_ts").integer();
    return !means_lost(mysql_errno(connection_.get()));
  }

  // Returns false if the connection is not usable afterwards.
  bool roll_back() {
    rows_.reset();
    return mysql_real_query(connection_.get(), "ROLLBACK", 8) == 0;
  }

  MysqlConnection connection_;
  SqlStatements statements_;
  std::string version_;
  std::string_view product_;
  Rows rows_;
  std::string mark_;  // put in front of statements
  bool read_only_ = false;
  bool tells_times_ = false;  // the server tells times and the caller needs them
  OwnTimes times_;            // times of the transaction that ended last
};

// Reads InnoDB's monitor: what information_schema shows of waiting transactions is up to a tenth of
// a second old. It needs the privilege PROCESS. TiDB lists its transactions.
class MysqlLocks : public LockView {
 public:
  explicit MysqlLocks(std::unique_ptr<MysqlSession> session) : session_(std::move(session)) {}
  bool waits(uint64_t backend, std::span<const uint64_t>) override {
    const bool tidb = session_->product() == "TiDB";
    std::string_view waiting = "processlist WHERE state LIKE 'Waiting for%lock' AND id";
    if (tidb) waiting = "tidb_trx WHERE state = 'LockWaiting' AND session_id";
    if (!session_->ask(fmt::format("SELECT 1 FROM information_schema.{} = {}", waiting, backend))
             .empty())
      return true;
    const std::string status[] = {"SHOW ENGINE INNODB STATUS"};
    std::vector<Spoken> answers;
    if (tidb || !session_->speak(status, answers).ok()) return false;
    if (answers[0].rows.empty() || !answers[0].rows[0].back()) return false;
    const std::string_view all = *answers[0].rows[0].back();
    size_t at = all.find("\nTRANSACTIONS\n");
    while (at != all.npos && (at = all.find("---TRANSACTION ", at)) != all.npos) {
      const size_t end = all.find("---TRANSACTION ", at + 1);
      const std::string_view one = all.substr(at, end == all.npos ? all.npos : end - at);
      if (one.find("LOCK WAIT") != one.npos &&
          one.find(fmt::format("thread id {},", backend)) != one.npos)
        return true;
      at = end;
    }
    return false;
  }

 private:
  std::unique_ptr<MysqlSession> session_;
};

class MysqlDriver : public Driver {
 public:
  MysqlDriver(const DriverOptions& options, Url url) : options_(options), url_(std::move(url)) {
    static std::once_flag once;
    std::call_once(once, [] { mysql_library_init(0, nullptr, nullptr); });
  }

  bool supports(OpKind) const override { return true; }
  bool supports_conditions() const override { return true; }
  sql::Dialect dialect() const override {
    sql::Dialect d{.database = product_,
                   .integer = "bigint",
                   .text = "varbinary(1000)",
                   .key_text = "varbinary(200)",
                   .quote = '`',
                   .delete_returns = product_ == "MariaDB"};
    if (product_ == "MariaDB") d.share = " LOCK IN SHARE MODE";
    // Others may have read the writes of a failed statement, and their writer would be unknown.
    if (options_.isolation == "read uncommitted" || isolation_ == "READ-UNCOMMITTED")
      d.refusal =
          "statements that fail at read uncommitted cannot be recorded; expected another "
          "--isolation";
    return d;
  }

  Status prepare() override {
    auto session = open();
    if (!session.ok()) return session.error();
    std::vector<std::string> sql = (*session)->statements().schema("varbinary(200)", "longblob");
    mark_ = begin_mark(options_.run);
    for (std::string& statement : run_table(mark_)) sql.push_back(std::move(statement));
    for (const std::string& statement : sql)
      if (Status s = (*session)->run(statement); !s.ok()) return s;
    product_ = (*session)->product();
    version_ = (*session)->version();
    isolation_ = (*session)->ask("SELECT @@tx_isolation");
    settings_ = (*session)->settings();
    return Ok{};
  }

  Result<std::unique_ptr<DriverSession>> connect() override {
    auto session = open();
    if (!session.ok()) return session.error();
    if (options_.run != 0 && parse_mark((*session)->ask(kRunQuestion)).run != options_.run)
      return io_error("MySQL: the tables of this run have not been replicated here");
    return std::unique_ptr<DriverSession>(std::move(*session));
  }

  std::unique_ptr<LockView> lock_view() override {
    auto session = open();
    if (!session.ok()) return nullptr;
    if (product_ == "Dolt") return std::make_unique<NoWaits>();
    return std::make_unique<MysqlLocks>(std::move(*session));
  }

  Result<RunMark> prepared_by() override {
    auto session = open();
    if (!session.ok()) return session.error();
    return parse_mark((*session)->ask(kRunQuestion));
  }

  Status mark_finished() override {
    auto session = open();
    if (!session.ok()) return session.error();
    return (*session)->run(finish_statement(mark_));
  }

  std::string describe() const override {
    return describe_database(product_, version_,
                             options_.isolation == "default" ? isolation_ : options_.isolation,
                             settings_);
  }

 private:
  Result<std::unique_ptr<MysqlSession>> open() {
    MysqlConnection connection(mysql_init(nullptr));
    // A little longer than the server waits, so an orderly error comes first.
    const auto seconds = static_cast<unsigned>(options_.timeout.count() / 1000 + 2);
    mysql_options(connection.get(), MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    mysql_options(connection.get(), MYSQL_OPT_READ_TIMEOUT, &seconds);
    mysql_options(connection.get(), MYSQL_OPT_WRITE_TIMEOUT, &seconds);
    mysql_options(connection.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (Status s = set_up_connection(connection.get(), url_); !s.ok()) return s.error();
    if (mysql_real_connect(connection.get(), url_.host.c_str(), given(url_.user),
                           given(url_.password), given(url_.path),
                           url_.port == 0 ? kMysqlDefaultPort : url_.port, nullptr, 0) == nullptr)
      return io_error(fmt::format("MySQL: {}", mysql_error(connection.get())));
    auto session = std::make_unique<MysqlSession>(std::move(connection), options_);
    if (Status s = session->set_up(options_, url_); !s.ok()) return s.error();
    return session;
  }

  DriverOptions options_;
  RunMark mark_;
  Url url_;
  std::string_view product_ = "MySQL";
  std::string version_;
  std::string isolation_;
  Settings settings_;
};

Result<std::unique_ptr<Driver>> open_mysql(const DriverOptions& options) {
  Result<Url> url = Url::parse(options.url);
  if (!url.ok()) return url.error();
  return std::unique_ptr<Driver>(std::make_unique<MysqlDriver>(options, std::move(*url)));
}

}  // namespace

const DriverInfo kMysql = {"mysql",
                           "MariaDB, Galera, MySQL and others that speak its protocol",
                           "mysql://USER@HOST:PORT/DATABASE",
                           kMysqlIsolations,
                           open_mysql,
                           "mariadb",
                           &kLibmariadb};

}  // namespace assay::internal::collect
#endif
