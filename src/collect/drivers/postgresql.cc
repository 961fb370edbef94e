// PostgreSQL through libpq, and databases that use its protocol.
//
// Every statement is sent without blocking and awaited with a deadline of our own, since a server
// that hangs does not respect its statement_timeout. What an error means for the transaction:
//
//   SQLSTATE 40xxx, 57014, 55P03, 25006, 23505   refused: aborted (H2 says also 90131 and HYTxx)
//   connection lost or deadline passed           before COMMIT was sent: aborted, as the server
//                                                undoes what is open on a lost connection; after
//                                                that: unknown
//   anything else                                fatal
//
// A COMMIT that is answered with ROLLBACK is an abort as well. version() identifies the database;
// CockroachDB and YugabyteDB take the same statements, H2 has its own for isolation and upserts.
#ifdef ASSAY_POSTGRESQL
#include <fmt/format.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <charconv>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "collect/client_library.h"
#include "collect/drivers/description.h"
#include "collect/drivers/registry.h"
#include "collect/drivers/sql.h"
#include "collect/run_id.h"

namespace assay::internal::collect {
namespace {

using Steady = std::chrono::steady_clock;

constexpr IsolationName kPostgresqlIsolations[] = {
    {"default", "what the server's default_transaction_isolation says"},
    {"read committed", "BEGIN ISOLATION LEVEL READ COMMITTED"},
    {"repeatable read", "BEGIN ISOLATION LEVEL REPEATABLE READ: snapshot isolation"},
    {"serializable", "BEGIN ISOLATION LEVEL SERIALIZABLE"},
    {"read uncommitted", "the same as read committed"},
};

constexpr IsolationName kH2Isolations[] = {
    {"default", "read committed"},
    {"read committed", "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED"},
    {"repeatable read", "… REPEATABLE READ"},
    {"serializable", "… SERIALIZABLE: snapshot isolation"},
    {"read uncommitted", "… READ UNCOMMITTED"},
    {"snapshot", "… SNAPSHOT"},
};

// The client waits this much longer than the server, so an orderly error comes first.
constexpr auto kPostgresqlGrace = std::chrono::milliseconds(1000);

struct ClosePostgresql {
  void operator()(PGconn* c) const { PQfinish(c); }
};
using PostgresqlConnection = std::unique_ptr<PGconn, ClosePostgresql>;

struct ClearResult {
  void operator()(PGresult* r) const { PQclear(r); }
};
using PostgresqlAnswer = std::unique_ptr<PGresult, ClearResult>;

std::string one_line(std::string message) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return message.substr(0, message.find('\n'));
}

bool refused(std::string_view sqlstate) {
  return sqlstate.starts_with("40") || sqlstate == "57014" || sqlstate == "55P03" ||
         sqlstate == "25006" || sqlstate == "23505" || sqlstate == "90131" ||
         sqlstate.starts_with("HYT");
}

// Whether the server ends the connection: shutdown, crash, recovery, or the network.
bool means_lost(std::string_view sqlstate) {
  return sqlstate.empty() || sqlstate.starts_with("08") || sqlstate.starts_with("57P");
}

// Added to each statement that changes something, which costs no round trip: it asks for the
// server's number of the transaction, of which the log has the lower 32 bits only, and writes the
// history's name of the transaction into the log. The number alone would not be enough: after a
// crash a number that never reached the disk is used again.
constexpr std::string_view kNaming =
    "txid_current() % 4294967296, pg_logical_emit_message(true, 'assay', "
    "current_setting('assay.txn'))";

// A query that also returns the snapshot that it looks at, in the same statement, as the next one
// may look at another snapshot. The first column is the snapshot; the second is null in the only
// row if the query returned none.
constexpr std::string_view kWithSnapshot =
    "WITH assay_rows AS ({}) SELECT * FROM (SELECT txid_current_snapshot()::text OFFSET 0) AS "
    "assay_one LEFT JOIN (SELECT 1 AS assay_there, assay_rows.* FROM assay_rows) AS assay_found ON "
    "true";
constexpr int kSnapshotColumns = 2;

// For the history's header, sorted by name.
constexpr std::string_view kPostgresqlSettings =
    "SELECT name, setting FROM pg_settings WHERE name IN ('default_transaction_deferrable', "
    "'default_transaction_isolation', 'default_transaction_read_only', 'fsync', "
    "'full_page_writes', 'max_pred_locks_per_transaction', 'synchronous_commit', "
    "'synchronous_standby_names', 'wal_level') ORDER BY name";

constexpr Oid kInt8 = 20;  // the type bigint

// The databases that use the protocol.
enum class Dialect { postgresql, cockroachdb, yugabytedb, h2 };

Dialect dialect_of(std::string_view version) {
  if (version.find("CockroachDB") != std::string_view::npos) return Dialect::cockroachdb;
  if (version.find("-YB-") != std::string_view::npos) return Dialect::yugabytedb;
  if (version.find("H2 ") != std::string_view::npos) return Dialect::h2;
  return Dialect::postgresql;
}

std::string_view name_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::postgresql:
      return "PostgreSQL";
    case Dialect::cockroachdb:
      return "CockroachDB";
    case Dialect::yugabytedb:
      return "YugabyteDB";
    case Dialect::h2:
      return "H2";
  }
  return "";
}

// Whether the row of an answer whose columns begin at `first` is there.
bool is_there(const PGresult& answer, int row, int first) {
  return first == 0 || PQgetisnull(&answer, row, 1) == 0;
}

class PostgresqlSession : public DriverSession {
 public:
  PostgresqlSession(PostgresqlConnection connection, const DriverOptions& options)
      : connection_(std::move(connection)), options_(options) {}

  // Identifies the server; called before anything else.
  Status greet() {
    version_ = ask("SELECT version()");
    if (version_.empty()) return io_error("PostgreSQL: no answer to SELECT version()");
    dialect_ = dialect_of(version_);
    const bool merge = dialect_ == Dialect::h2;
    const bool named = options_.named && dialect_ == Dialect::postgresql;
    statements_.emplace(merge ? Upsert::merge : Upsert::on_conflict, options_.tables,
                        named ? kNaming : "");
    return Ok{};
  }

  Status prepare() {
    if (options_.run != 0 && parse_mark(ask(kRunQuestion)).run != options_.run)
      return io_error("PostgreSQL: the tables of this run have not been replicated here");
    if (dialect_ == Dialect::h2) return prepare_h2();
    const bool named = options_.isolation != "default";
    begin_ = named ? "BEGIN ISOLATION LEVEL " + options_.isolation : "BEGIN";
    const std::string limit =
        fmt::format("SET statement_timeout = {}; SET lock_timeout = 0", options_.timeout.count());
    if (Status s = run(limit); !s.ok()) return s;
    PQsetNoticeReceiver(
        connection_.get(),
        [](void* to, const PGresult* notice) {
          auto& self = *static_cast<PostgresqlSession*>(to);
          const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY);
          const char* text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
          if (self.speaking_ && severity != nullptr && text != nullptr)
            self.notices_.push_back(fmt::format("{}:  {}", severity, text));
        },
        this);
    backend_ = static_cast<uint64_t>(PQbackendPID(connection_.get()));
    read_only_ = ask("SELECT pg_is_in_recovery()") == "t";
    return Ok{};
  }

  bool read_only() const override { return read_only_; }
  uint64_t backend() const override { return backend_; }

  void name_transaction(std::string_view txn) override {
    server_id_.clear();
    said_name_ = false;
    name_ = dialect_ == Dialect::postgresql ? fmt::format("; SET LOCAL assay.txn = '{}'", txn) : "";
  }
  std::string server_id() const override { return server_id_; }

  CallResult begin() override { return judge(send_text(begin_ + name_), false); }

  CallResult call(const Request& request, Reply& reply) override {
    const SqlCall sql = statements_->of(request);
    if (sql.sql.empty()) return CallResult::fatal("PostgreSQL: unsupported kind of operation");
    CallResult result = execute(sql, request.selects());
    if (!result.ok()) return result;
    if (options_.named && changes_data(request.kind) && row_count() > 0) server_id_ = text_at(0, 0);
    take_reply(request, all_rows(*answer_, first_), changed_one() ? 1 : 0, reply);
    reply.snapshot = snapshot();
    if (request.kind == OpKind::append && !changed_one())
      return execute(statements_->first_element(request));
    return result;
  }

  CallResult execute(const SqlCommand& command, SqlAnswer& answer) override {
    std::vector<std::string> integers(command.parameters.size());
    std::vector<const char*> parameters(command.parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Value& value = command.parameters[i];
      if (value.is_integer()) integers[i] = std::to_string(value.integer);
      if (!value.is_null())
        parameters[i] = value.is_integer() ? integers[i].c_str() : value.text.c_str();
    }
    CallResult result = execute(command.sql, parameters, command.asks_snapshot);
    if (!result.ok()) return result;
    for (int row = 0; row < row_count(); ++row) {
      if (!is_there(*answer_, row, first_)) continue;
      auto& cells = answer.rows.emplace_back();
      for (int i = first_; i < PQnfields(answer_.get()); ++i) cells.push_back(cell_at(row, i));
    }
    answer.snapshot = snapshot();
    const std::string_view changed = PQcmdTuples(answer_.get());
    std::from_chars(changed.data(), changed.data() + changed.size(), answer.changed);
    if (first_ > 0) answer.changed = answer.rows.size();
    const bool changes = !command.sql.starts_with("SELECT");
    if (!name_.empty() && !said_name_ && changes && answer.changed > 0) {
      said_name_ = true;
      result = judge(send_text("SELECT " + std::string(kNaming)), false);
      if (result.ok()) server_id_ = text_at(0, 0);
    }
    return result;
  }

  // Sends all statements in one message, as PostgreSQL's own tester sends a step: outside of a
  // transaction they are one.
  Status speak(std::span<const std::string> statements, std::vector<Spoken>& answers) override {
    if (statements.empty()) return Ok{};
    std::string sql;
    for (const std::string& s : statements) sql += (sql.empty() ? "" : ";\n") + s;
    lost_because_.clear();
    spoken_.clear();
    speaking_ = true;
    const bool answered = send_text(sql) != 0 && receive();
    speaking_ = false;
    // Notices after the last answer, such as those of a trigger at the end of the transaction,
    // belong to it.
    if (!spoken_.empty() && !notices_.empty())
      std::move(notices_.begin(), notices_.end(), std::back_inserter(spoken_.back().notices));
    notices_.clear();
    if (!spoken_.empty()) {
      const PGTransactionStatusType now = PQtransactionStatus(connection_.get());
      spoken_.back().open = now == PQTRANS_INTRANS || now == PQTRANS_INERROR;
    }
    std::move(spoken_.begin(), spoken_.end(), std::back_inserter(answers));
    if (answered && PQstatus(connection_.get()) == CONNECTION_OK) return Ok{};
    return io_error("PostgreSQL: " + lost(false).message);
  }

  CallResult commit() override {
    CallResult result = judge(send_text("COMMIT"), true);
    if (result.ok() && std::string_view(PQcmdStatus(answer_.get())) == "ROLLBACK")
      return CallResult::aborted("COMMIT was answered with ROLLBACK");
    return result;
  }

  CallResult abort() override {
    const bool lost = !roll_back();
    return CallResult::aborted("rolled back by the client", lost);
  }

  // Runs one statement outside of transactions; for setting up.
  Status run(const std::string& sql) { return must(send_text(sql)); }
  std::string ask(const std::string& sql) {
    if (!run(sql).ok() || row_count() == 0) return {};
    return std::string(text_at(0, 0));
  }
  Settings settings() {
    Settings found;
    if (dialect_ == Dialect::h2 || !run(std::string(kPostgresqlSettings)).ok()) return found;
    for (int row = 0; row < row_count(); ++row)
      found.emplace_back(text_at(row, 0), text_at(row, 1));
    return found;
  }
  Dialect dialect() const { return dialect_; }
  const std::string& version() const { return version_; }
  const SqlStatements& statements() const { return *statements_; }

 private:
  // Whether snapshots are useful: standbys print theirs without the transactions that are running.
  bool tells_snapshots() const {
    return options_.named && dialect_ == Dialect::postgresql && !read_only_;
  }
  std::string snapshot() const { return std::string(first_ > 0 ? text_at(0, 0) : ""); }
  int row_count() const { return PQntuples(answer_.get()); }
  std::string_view text_at(int row, int column) const {
    return {PQgetvalue(answer_.get(), row, column),
            static_cast<size_t>(PQgetlength(answer_.get(), row, column))};
  }
  Value cell_at(int row, int column) const {
    if (PQgetisnull(answer_.get(), row, column) != 0) return {};
    const std::string_view text = text_at(row, column);
    if (PQftype(answer_.get(), column) != kInt8) return Value::of(std::string(text));
    int64_t integer = 0;
    std::from_chars(text.data(), text.data() + text.size(), integer);
    return Value::of(integer);
  }
  bool changed_one() const { return std::string_view(PQcmdTuples(answer_.get())) == "1"; }

  Status prepare_h2() {
    begin_ = "BEGIN";
    const std::string session = ask("SELECT session_id()");
    std::from_chars(session.data(), session.data() + session.size(), backend_);
    if (Status s = run(fmt::format("SET QUERY_TIMEOUT {}", options_.timeout.count())); !s.ok())
      return s;
    if (options_.isolation == "default") return Ok{};
    return run("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " + options_.isolation);
  }

  int send_text(const std::string& sql) { return PQsendQuery(connection_.get(), sql.c_str()); }

  CallResult execute(const SqlCall& call, bool asks_snapshot = false) {
    std::vector<const char*> parameters;
    for (const std::string& text : call.parameters) parameters.push_back(text.c_str());
    return execute(call.sql, parameters, asks_snapshot);
  }

  // Prepares a statement at its first use.
  CallResult execute(std::string_view text, const std::vector<const char*>& parameters,
                     bool asks_snapshot) {
    first_ = asks_snapshot && tells_snapshots() ? kSnapshotColumns : 0;
    auto [it, first] = prepared_.try_emplace(text.data());
    if (first) {
      it->second = fmt::format("assay_{}", prepared_.size());
      const std::string sql = first_ > 0 ? fmt::format(kWithSnapshot, text) : std::string(text);
      CallResult result = judge(
          PQsendPrepare(connection_.get(), it->second.c_str(), sql.c_str(), 0, nullptr), false);
      if (!result.ok()) {
        prepared_.erase(it);
        return result;
      }
    }
    return judge(PQsendQueryPrepared(connection_.get(), it->second.c_str(),
                                     static_cast<int>(parameters.size()), parameters.data(),
                                     nullptr, nullptr, 0),
                 false);
  }

  // Waits for the response, into answer_; false if the connection is no longer usable.
  bool receive() {
    const auto deadline = Steady::now() + options_.timeout + kPostgresqlGrace;
    answer_.reset();
    while (true) {
      while (PQisBusy(connection_.get()) == 0) {
        PostgresqlAnswer next(PQgetResult(connection_.get()));
        if (!next) return answer_ != nullptr;
        if (speaking_) spoken_.push_back(spoken(*next));
        // Among several results the first error counts, otherwise the last result.
        if (!answer_ || PQresultStatus(answer_.get()) != PGRES_FATAL_ERROR)
          answer_ = std::move(next);
      }
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
      const int waiting_for = PQflush(connection_.get()) == 1 ? POLLIN | POLLOUT : POLLIN;
      pollfd socket{PQsocket(connection_.get()), static_cast<short>(waiting_for), 0};
      if (left <= 0) {
        lost_because_ = "no answer in time";
        return false;
      }
      // H2 sends an answer in pieces and waits until we acknowledge each, which the system delays.
      const int now = 1;
      if (dialect_ == Dialect::h2)
        setsockopt(socket.fd, IPPROTO_TCP, TCP_QUICKACK, &now, sizeof now);
      if (poll(&socket, 1, static_cast<int>(left)) < 0 && errno != EINTR) return false;
      if ((socket.revents & (POLLIN | POLLERR | POLLHUP)) != 0 &&
          PQconsumeInput(connection_.get()) == 0)
        return false;
    }
  }

  // The result of one of several statements. All of them are one transaction until one of them ends
  // it.
  Spoken spoken(PGresult& result) {
    Spoken s;
    s.notices = std::exchange(notices_, {});
    s.tag = PQcmdStatus(&result);
    s.open = !s.tag.starts_with("COMMIT") && s.tag != "ROLLBACK" && s.tag != "PREPARE TRANSACTION";
    if (PQresultStatus(&result) == PGRES_FATAL_ERROR) {
      const char* field = PQresultErrorField(&result, PG_DIAG_SQLSTATE);
      const char* primary = PQresultErrorField(&result, PG_DIAG_MESSAGE_PRIMARY);
      s.error =
          fmt::format("{} {}", field == nullptr ? "" : field, primary == nullptr ? "" : primary);
    }
    const int columns = PQnfields(&result);
    for (int c = 0; c < columns; ++c) s.columns.emplace_back(PQfname(&result, c));
    s.rows = all_rows(result);
    return s;
  }

  static TextRows all_rows(const PGresult& result, int first = 0) {
    TextRows all;
    for (int row = 0; row < PQntuples(&result); ++row) {
      if (!is_there(result, row, first)) continue;
      auto& cells = all.emplace_back();
      for (int c = first; c < PQnfields(&result); ++c)
        cells.push_back(PQgetisnull(&result, row, c) != 0
                            ? std::nullopt
                            : std::optional<std::string>(PQgetvalue(&result, row, c)));
    }
    return all;
  }

  CallResult judge(int sent, bool committing) {
    lost_because_.clear();
    if (sent == 0 || !receive()) return lost(committing);
    const ExecStatusType status = PQresultStatus(answer_.get());
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return {};
    const char* field = PQresultErrorField(answer_.get(), PG_DIAG_SQLSTATE);
    const std::string sqlstate = field == nullptr ? "" : field;
    const char* primary = PQresultErrorField(answer_.get(), PG_DIAG_MESSAGE_PRIMARY);
    const std::string message = fmt::format("{} {}", sqlstate, primary == nullptr ? "" : primary);
    if (means_lost(sqlstate) || PQstatus(connection_.get()) != CONNECTION_OK) {
      lost_because_ = message;
      return lost(committing);
    }
    const bool doubtful = sqlstate == "40003";  // the server itself does not know
    if (doubtful && committing) return CallResult::unknown(message);
    if (!refused(sqlstate)) return CallResult::fatal("PostgreSQL: " + message);
    return CallResult::aborted(message, !roll_back());
  }

  CallResult lost(bool committing) {
    std::string why = lost_because_;
    if (why.empty()) why = one_line(PQerrorMessage(connection_.get()));
    if (why.empty()) why = "connection lost";
    if (committing) return CallResult::unknown(std::move(why));
    return CallResult::aborted(std::move(why), true);
  }

  // Returns false if the connection is not usable afterwards.
  bool roll_back() {
    if (PQtransactionStatus(connection_.get()) == PQTRANS_IDLE) return true;
    return send_text("ROLLBACK") != 0 && receive() &&
           PQtransactionStatus(connection_.get()) == PQTRANS_IDLE;
  }

  Status must(int sent) {
    const CallResult result = judge(sent, false);
    if (!result.ok()) return io_error(result.message);
    return Ok{};
  }

  PostgresqlConnection connection_;
  const DriverOptions& options_;
  std::optional<SqlStatements> statements_;
  std::unordered_map<const char*, std::string> prepared_;  // by the statement's text
  std::string begin_;
  std::string version_;
  Dialect dialect_ = Dialect::postgresql;
  PostgresqlAnswer answer_;
  int first_ = 0;  // column of answer_ after those of the snapshot
  std::string lost_because_;
  std::string name_;        // gives the transaction its name, if it is to have one
  bool said_name_ = false;  // in a statement for one of the user's: those of ours include it
  std::string server_id_;
  uint64_t backend_ = 0;
  bool read_only_ = false;
  bool speaking_ = false;             // whether the statements are the user's, each of whose
                                      // answers is kept
  std::vector<Spoken> spoken_;        // their results
  std::vector<std::string> notices_;  // since the last answer
};

// PostgreSQL's tester asks the same function; H2 lists its sessions.
constexpr char kH2Blocker[] =
    "SELECT blocker_id FROM information_schema.sessions WHERE session_id = {}";

class PostgresqlLocks : public LockView {
 public:
  explicit PostgresqlLocks(std::unique_ptr<PostgresqlSession> session)
      : session_(std::move(session)) {}
  bool waits(uint64_t backend, std::span<const uint64_t> others) override {
    if (session_->dialect() == Dialect::h2)
      return !session_->ask(fmt::format(kH2Blocker, backend)).empty();
    return session_->ask(
               fmt::format("SELECT pg_catalog.pg_isolation_test_session_is_blocked({}, '{{{}}}')",
                           backend, fmt::join(others, ","))) == "t";
  }

 private:
  std::unique_ptr<PostgresqlSession> session_;
};

class PostgresqlDriver : public Driver {
 public:
  explicit PostgresqlDriver(const DriverOptions& options) : options_(options) {}

  bool supports(OpKind) const override { return true; }
  bool supports_conditions() const override { return true; }
  // Below repeatable read, PostgreSQL looks again at rows that it locks; the other systems have not
  // been examined.
  sql::Dialect dialect() const override {
    sql::Dialect d{.database = name_,
                   .integer = "bigint",
                   .text = "text COLLATE \"C\"",
                   .key_text = "varchar(200) COLLATE \"C\"",
                   .update_returns = true,
                   .delete_returns = true};
    const std::string& isolation =
        options_.isolation == "default" ? default_isolation_ : options_.isolation;
    d.looks_again = dialect_ != Dialect::postgresql ||
                    (isolation != "repeatable read" && isolation != "serializable");
    if (dialect_ == Dialect::cockroachdb) d.text = d.key_text = "text";
    if (dialect_ == Dialect::h2) make_h2(d, isolation);
    return d;
  }

  // H2 could return rows with SELECT … FROM FINAL TABLE (UPDATE …), but at read committed that
  // changes rows through an index which the UPDATE by itself does not
  // (docs/findings/h2-final-table.md).
  static void make_h2(sql::Dialect& d, std::string_view isolation) {
    d.text = "varchar(1000)";
    d.key_text = "varchar(200)";
    d.update_returns = d.delete_returns = false;
    // Others may have read the writes of a failed statement, and their writer would be unknown.
    if (isolation == "read uncommitted")
      d.refusal =
          "statements that fail at read uncommitted cannot be recorded; expected another "
          "--isolation";
  }

  Status prepare() override {
    auto session = open();
    if (!session.ok()) return session.error();
    const Dialect dialect = dialect_ = (*session)->dialect();
    const bool has_collations = dialect == Dialect::postgresql || dialect == Dialect::yugabytedb;
    std::vector<std::string> sql = (*session)->statements().schema(
        has_collations ? "varchar(200) COLLATE \"C\"" : "varchar(200)",
        dialect == Dialect::h2 ? "varchar" : "text");
    if (dialect != Dialect::h2) sql.insert(sql.begin(), "SET client_min_messages = warning");
    mark_ = begin_mark(options_.run);
    for (std::string& statement : run_table(mark_)) sql.push_back(std::move(statement));
    for (const std::string& statement : sql)
      if (Status s = (*session)->run(statement); !s.ok()) return s;
    name_ = name_of(dialect);
    settings_ = (*session)->settings();
    version_ = (*session)->version();
    default_isolation_ =
        dialect == Dialect::h2 ? "default" : (*session)->ask("SHOW default_transaction_isolation");
    return Ok{};
  }

  Result<std::unique_ptr<DriverSession>> connect() override {
    auto session = open();
    if (!session.ok()) return session.error();
    if (Status s = (*session)->prepare(); !s.ok()) return s.error();
    return std::unique_ptr<DriverSession>(std::move(*session));
  }

  std::unique_ptr<LockView> lock_view() override {
    if (dialect_ != Dialect::postgresql && dialect_ != Dialect::h2) return nullptr;
    auto session = open();
    if (!session.ok()) return nullptr;
    return std::make_unique<PostgresqlLocks>(std::move(*session));
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
    const std::string& isolation =
        options_.isolation == "default" ? default_isolation_ : options_.isolation;
    return describe_database(name_, version_, isolation, settings_);
  }

 private:
  Result<std::unique_ptr<PostgresqlSession>> open() {
    const std::string seconds =
        std::to_string(std::max<int64_t>(2, options_.timeout.count() / 1000));
    // dbname may be a whole URL; the parameters after it apply unless the URL says otherwise.
    const char* names[] = {"dbname", "connect_timeout", "application_name", nullptr};
    const char* values[] = {options_.url.c_str(), seconds.c_str(), "assay", nullptr};
    PostgresqlConnection connection(PQconnectdbParams(names, values, 1));
    if (PQstatus(connection.get()) != CONNECTION_OK)
      return io_error("PostgreSQL: " + one_line(PQerrorMessage(connection.get())) +
                      (PQconnectionNeedsPassword(connection.get()) != 0
                           ? "; expected one in PGPASSWORD or ~/.pgpass"
                           : ""));
    PQsetnonblocking(connection.get(), 1);
    PQsetNoticeProcessor(
        connection.get(), [](void*, const char*) {}, nullptr);
    auto session = std::make_unique<PostgresqlSession>(std::move(connection), options_);
    if (Status s = session->greet(); !s.ok()) return s.error();
    return session;
  }

  DriverOptions options_;
  RunMark mark_;
  std::string name_ = "PostgreSQL";
  Dialect dialect_ = Dialect::postgresql;
  Settings settings_;
  std::string version_;
  std::string default_isolation_;
};

Result<std::unique_ptr<Driver>> open_postgresql(const DriverOptions& options) {
  return std::unique_ptr<Driver>(std::make_unique<PostgresqlDriver>(options));
}

// H2 uses the same protocol, without TLS.
Result<std::unique_ptr<Driver>> open_h2(const DriverOptions& options) {
  DriverOptions changed = options;
  changed.url.replace(0, std::string_view("h2").size(), "postgresql");
  changed.url += changed.url.find('?') == std::string::npos ? '?' : '&';
  changed.url += "sslmode=disable";
  return open_postgresql(changed);
}

}  // namespace

const DriverInfo kPostgresql = {"postgresql",
                                "PostgreSQL and others that speak its protocol",
                                "postgresql://USER@HOST:PORT/DATABASE",
                                kPostgresqlIsolations,
                                open_postgresql,
                                "postgres",
                                &kLibpq};

const DriverInfo kH2 = {"h2",
                        "H2 as a server of PostgreSQL's protocol",
                        "h2://USER:PASSWORD@HOST:PORT/DATABASE",
                        kH2Isolations,
                        open_h2,
                        {},
                        &kLibpq};

}  // namespace assay::internal::collect
#endif
