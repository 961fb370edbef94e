// Embedded SQLite in WAL mode, one connection per session.
//
// SQLite has one writer at a time. A transaction begun IMMEDIATE waits for that turn at once and
// never conflicts, but then transactions hardly overlap. A DEFERRED one takes a snapshot at its
// first read and requests the turn at its first write; if another transaction has committed since,
// SQLite refuses (SQLITE_BUSY_SNAPSHOT) and the transaction is aborted. `adaptive`, the default,
// begins DEFERRED and, after an abort, IMMEDIATE once: transactions overlap, and every session gets
// on.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "collect/drivers/checkpoint_turns.h"
#include "collect/drivers/description.h"
#include "collect/drivers/registry.h"
#include "collect/drivers/sql.h"
#include "collect/drivers/sqlite_lock.h"
#include "collect/run_id.h"
#include "collect/schedule/statements.h"

namespace assay::internal::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqliteScheme = "sqlite:";
constexpr IsolationName kSqliteIsolations[] = {
    {"adaptive", "BEGIN DEFERRED; after an abort, BEGIN IMMEDIATE once"},
    {"deferred",
     "BEGIN DEFERRED: a snapshot at the first read, aborted if it is old at the first write"},
    {"immediate", "BEGIN IMMEDIATE: one transaction at a time"},
};

struct CloseSqlite {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
using SqliteConnection = std::unique_ptr<sqlite3, CloseSqlite>;

struct Finalize {
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

std::string message_of(sqlite3* db) {
  switch (const int code = sqlite3_extended_errcode(db)) {
    case SQLITE_BUSY:
      return "SQLITE_BUSY: another transaction is writing";
    case SQLITE_BUSY_SNAPSHOT:
      return "SQLITE_BUSY_SNAPSHOT: another transaction has written since the snapshot";
    default:
      return fmt::format("{} ({})", sqlite3_errmsg(db), code);
  }
}

// Waits for the writer's turn in ever longer naps. SQLite's own handler sleeps whole milliseconds,
// which is very long compared with a transaction.
struct Patience {
  std::chrono::milliseconds limit;
  std::chrono::steady_clock::time_point since{};
  std::atomic<bool> waits = false;

  static int wait(void* self, int tries) {
    auto& patience = *static_cast<Patience*>(self);
    const auto now = std::chrono::steady_clock::now();
    if (tries == 0) patience.since = now;
    patience.waits = true;
    if (now - patience.since > patience.limit) return 0;
    std::this_thread::sleep_for(std::chrono::microseconds(10 << std::min(tries, 6)));
    return 1;
  }
};

void bind(sqlite3_stmt* s, int at, const Value& v) {
  switch (v.type) {
    case ValueView::Type::null:
      sqlite3_bind_null(s, at);
      return;
    case ValueView::Type::integer:
      sqlite3_bind_int64(s, at, v.integer);
      return;
    case ValueView::Type::string:
    case ValueView::Type::row:
      sqlite3_bind_text(s, at, v.text.data(), static_cast<int>(v.text.size()), SQLITE_TRANSIENT);
      return;
  }
}

Value column(sqlite3_stmt* s, int at) {
  switch (sqlite3_column_type(s, at)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return Value::of(sqlite3_column_int64(s, at));
    default: {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(s, at));
      const auto size = static_cast<size_t>(sqlite3_column_bytes(s, at));
      return Value::of(text == nullptr ? std::string() : std::string(text, size));
    }
  }
}

// What others may know about a session while it works.
struct Standing {
  Patience patience;
  std::atomic<bool> writes = false;  // whether it has the writer's turn, between its statements
};

// The states of all connections of one driver.
struct Standings {
  std::mutex mutex;
  std::vector<std::shared_ptr<Standing>> all;
};

// Tells which connections wait for the writer's turn while another has it.
class SqliteLocks : public LockView {
 public:
  explicit SqliteLocks(std::shared_ptr<Standings> standings) : standings_(std::move(standings)) {}
  bool waits(uint64_t backend, std::span<const uint64_t> others) override {
    const std::lock_guard lock(standings_->mutex);
    const auto& all = standings_->all;
    return all[backend - 1]->patience.waits &&
           std::ranges::any_of(others, [&](uint64_t o) { return all[o - 1]->writes.load(); });
  }

 private:
  std::shared_ptr<Standings> standings_;
};

// The statements of a session, prepared once.
enum Sql {
  kBeginDeferred,
  kBeginImmediate,
  kCommit,
  kRollback,
  kRead,
  kWrite,
  kInsert,
  kCas,
  kRemove,
  kRange
};
constexpr std::array<const char*, 10> kSql = {
    "BEGIN DEFERRED",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "SELECT v FROM assay_kv WHERE k = ?1",
    "INSERT INTO assay_kv (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
    "INSERT INTO assay_kv (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO NOTHING",
    "UPDATE assay_kv SET v = ?2 WHERE k = ?1 AND v IS ?3",
    "DELETE FROM assay_kv WHERE k = ?1",
    "SELECT k, v FROM assay_kv WHERE (?1 IS NULL OR k >= ?1) AND (?2 IS NULL OR k <= ?2) "
    "AND (?3 IS NULL OR v BETWEEN ?3 AND ?4) ORDER BY k",
};

// The log of changes, in their order: SQLite has one writer at a time, so the rows of a log table
// that triggers write are in the order of the transactions. The triggers belong to the connection,
// since they ask it for the transaction's name.
constexpr std::string_view kLogTable =
    "DROP TABLE IF EXISTS assay_log;"
    "CREATE TABLE assay_log (n INTEGER PRIMARY KEY, txn, source, k, v);";

std::vector<std::string> log_triggers(std::span<const Table> tables) {
  std::vector<std::string> sql;
  const auto trigger = [&](std::string_view table, std::string_view event, std::string_view column,
                           std::string_view source, std::string_view row) {
    const std::string of = event == "UPDATE" ? fmt::format(" OF {}", column) : "";
    // The other cells of a new row hold nothing yet.
    const std::string when =
        event == "INSERT" ? fmt::format(" WHEN NEW.{} IS NOT NULL", column) : "";
    sql.push_back(fmt::format(
        "CREATE TEMP TRIGGER {0}_{4}_{1} AFTER {1}{2} ON main.{0}{7} BEGIN "
        "INSERT INTO assay_log (txn, source, k, v) VALUES (assay_txn(), '{3}', {5}.k, {6}); END;",
        table, event, of, source, column, row,
        event == "DELETE" ? "NULL" : fmt::format("NEW.{}", column), when));
  };
  const auto column = [&](const std::string& table, const std::string& name) {
    const std::string source = fmt::format("{}.{}", table, name);
    trigger(table, "INSERT", name, source, "NEW");
    trigger(table, "UPDATE", name, source, "NEW");
    trigger(table, "DELETE", name, source, "OLD");
  };
  column("assay_kv", "v");
  column("assay_list", "v");
  for (const Table& table : tables)
    for (const std::string& name : table.columns) column("assay_" + table.name, name);
  return sql;
}

class SqliteSession : public DriverSession {
 public:
  SqliteSession(SqliteConnection db, const DriverOptions& options,
                std::shared_ptr<CheckpointTurns> turns, Standings& standings)
      : turns_(std::move(turns)),
        deferred_(options.isolation != "immediate"),
        adaptive_(options.isolation == "adaptive"),
        db_(std::move(db)),
        texts_(Upsert::on_conflict, options.tables) {
    standing_->patience.limit = options.timeout;
    {
      const std::lock_guard lock(standings.mutex);
      standings.all.push_back(standing_);
      backend_ = standings.all.size();
    }
    sqlite3_busy_handler(db_.get(), &Patience::wait, &standing_->patience);
    const auto committed = [](void* to, sqlite3*, const char*, int pages) {
      static_cast<CheckpointTurns*>(to)->committed(static_cast<uint64_t>(pages));
      return SQLITE_OK;
    };
    sqlite3_wal_hook(db_.get(), committed,
                     turns_.get());  // instead of checkpoints by SQLite itself
  }
  ~SqliteSession() override { end_turn(); }

  Status prepare() {
    for (size_t i = 0; i < kSql.size(); ++i) {
      sqlite3_stmt* s = nullptr;
      if (sqlite3_prepare_v3(db_.get(), kSql[i], -1, SQLITE_PREPARE_PERSISTENT, &s, nullptr) !=
          SQLITE_OK)
        return io_error("SQLite: " + message_of(db_.get()));
      statements_[i].reset(s);
    }
    return Ok{};
  }

  // Makes its further changes be logged under the transaction's name.
  Status log_changes(std::span<const Table> tables) {
    const auto txn = [](sqlite3_context* context, int, sqlite3_value**) {
      const auto* self = static_cast<const SqliteSession*>(sqlite3_user_data(context));
      sqlite3_result_text(context, self->name_.data(), static_cast<int>(self->name_.size()),
                          SQLITE_TRANSIENT);
    };
    sqlite3_create_function(db_.get(), "assay_txn", 0, SQLITE_UTF8, this, txn, nullptr, nullptr);
    for (const std::string& sql : log_triggers(tables))
      if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        return io_error("SQLite: " + message_of(db_.get()));
    return Ok{};
  }
  void name_transaction(std::string_view txn) override { name_ = txn; }

  CallResult begin() override {
    const bool deferred = deferred_ && !(adaptive_ && std::exchange(was_aborted_, false));
    end_turn();
    turns_->begin(standing_->patience.limit, [this] { return empty_log(); });
    has_turn_ = true;
    return after(execute(deferred ? kBeginDeferred : kBeginImmediate));
  }

  CallResult call(const Request& request, Reply& reply) override {
    const bool list = request.kind == OpKind::append || request.kind == OpKind::read_list;
    if (list || texts_.is_cell(request.key)) return call_as_text(request, reply);
    switch (request.kind) {
      case OpKind::read:
        reply.value = {};
        return execute(kRead, {&request.key},
                       [&](sqlite3_stmt* row) { reply.value = column(row, 0); });
      case OpKind::write:
        return execute(kWrite, {&request.key, &request.value});
      case OpKind::insert:
        return with_effect(execute(kInsert, {&request.key, &request.value}), reply);
      case OpKind::cas:
        return with_effect(execute(request.expected.is_null() ? kInsert : kCas,
                                   {&request.key, &request.value, &request.expected}),
                           reply);
      case OpKind::remove:
        return with_effect(execute(kRemove, {&request.key}), reply);
      case OpKind::range:
        reply.rows.clear();
        return execute(
            kRange, {&request.key, &request.high, &request.least, &request.most},
            [&](sqlite3_stmt* row) { reply.rows.emplace_back(column(row, 0), column(row, 1)); });
      default:
        return CallResult::fatal("SQLite: unsupported kind of operation");
    }
  }

  CallResult execute(const SqlCommand& command, SqlAnswer& answer) override {
    Statement& prepared = text_statements_[command.sql.data()];
    if (prepared == nullptr) {
      sqlite3_stmt* s = nullptr;
      if (sqlite3_prepare_v3(db_.get(), command.sql.data(), static_cast<int>(command.sql.size()),
                             SQLITE_PREPARE_PERSISTENT, &s, nullptr) != SQLITE_OK)
        return CallResult::fatal("SQLite: " + message_of(db_.get()));
      prepared.reset(s);
    }
    sqlite3_stmt* s = prepared.get();
    for (size_t i = 0; i < command.parameters.size(); ++i)
      bind(s, sqlite3_bind_parameter_index(s, fmt::format("${}", i + 1).c_str()),
           command.parameters[i]);
    CallResult result = step(s, false, [&](sqlite3_stmt* row) {
      auto& cells = answer.rows.emplace_back();
      for (int i = 0; i < sqlite3_column_count(row); ++i) cells.push_back(column(row, i));
    });
    answer.changed = static_cast<uint64_t>(sqlite3_changes(db_.get()));
    return result;
  }

  // A BEGIN without a kind is that of the isolation.
  Status speak(std::span<const std::string> statements, std::vector<Spoken>& answers) override {
    for (const std::string& sql : statements) {
      const std::vector<schedule::Word> words = schedule::words_of(sql);
      const bool begins = !words.empty() && words[0].is("begin") &&
                          (words.size() == 1 || (words.size() == 2 && words[1].is("transaction")));
      answers.push_back(speak(begins && !deferred_ ? kSql[kBeginImmediate] : sql));
      standing_->patience.waits = false;
      standing_->writes = sqlite3_txn_state(db_.get(), "main") == SQLITE_TXN_WRITE;
      if (!answers.back().error.empty()) break;
    }
    return Ok{};
  }
  uint64_t backend() const override { return backend_; }

  CallResult commit() override { return after(execute(kCommit)); }

  CallResult abort() override {
    if (sqlite3_get_autocommit(db_.get()) == 0) {
      CallResult result = execute(kRollback);
      if (!result.ok()) return result;
    }
    end_turn();
    return CallResult::aborted("rolled back by the client");
  }

 private:
  Spoken speak(const std::string& sql) {
    Spoken spoken;
    sqlite3_stmt* prepared = nullptr;
    int code = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &prepared, nullptr);
    const Statement s(prepared);
    for (int c = 0; c < sqlite3_column_count(prepared); ++c)
      spoken.columns.emplace_back(sqlite3_column_name(prepared, c));
    if (code == SQLITE_OK && prepared != nullptr) code = sqlite3_step(prepared);
    for (; code == SQLITE_ROW; code = sqlite3_step(prepared)) {
      auto& cells = spoken.rows.emplace_back();
      for (int c = 0; c < sqlite3_column_count(prepared); ++c) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(prepared, c));
        cells.push_back(text == nullptr ? std::nullopt : std::optional<std::string>(text));
      }
    }
    if (code != SQLITE_DONE && code != SQLITE_OK) spoken.error = message_of(db_.get());
    spoken.open = sqlite3_get_autocommit(db_.get()) == 0;
    return spoken;
  }

  struct NoRows {
    void operator()(sqlite3_stmt*) const {}
  };

  // The result of a call; the transaction is over if none is open.
  CallResult after(CallResult result) {
    if (sqlite3_get_autocommit(db_.get()) != 0) end_turn();
    return result;
  }
  void end_turn() {
    if (std::exchange(has_turn_, false)) turns_->end();
  }
  // Empties the log and returns how many pages are left in it, for instance because of a reader in
  // another process.
  uint64_t empty_log() {
    int pages = 0;
    sqlite3_busy_handler(db_.get(), nullptr, nullptr);  // does not wait for another process
    const int code =
        sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, &pages, nullptr);
    sqlite3_busy_handler(db_.get(), &Patience::wait, &standing_->patience);
    return code == SQLITE_OK || pages < 0 ? 0 : static_cast<uint64_t>(pages);
  }

  template <class OnRow = NoRows>
  CallResult execute(Sql sql, std::initializer_list<const Value*> values = {}, OnRow on_row = {}) {
    sqlite3_stmt* s = statements_[sql].get();
    int at = 0;
    const int wanted = sqlite3_bind_parameter_count(s);
    for (const Value* v : values)
      if (at < wanted) bind(s, ++at, *v);
    return step(s, sql == kCommit, on_row);
  }

  // Lists and cells are kept as text, as in databases whose columns have types.
  CallResult call_as_text(const Request& request, Reply& reply) {
    const SqlCall call = texts_.of(request);
    if (call.sql.empty()) return CallResult::fatal("SQLite: unsupported kind of operation");
    Statement& prepared = text_statements_[call.sql.data()];
    sqlite3_stmt* s = prepared.get();
    if (s == nullptr) {
      if (sqlite3_prepare_v3(db_.get(), call.sql.data(), static_cast<int>(call.sql.size()),
                             SQLITE_PREPARE_PERSISTENT, &s, nullptr) != SQLITE_OK)
        return CallResult::fatal("SQLite: " + message_of(db_.get()));
      prepared.reset(s);
    }
    for (size_t i = 0; i < call.parameters.size(); ++i) {
      const int at = sqlite3_bind_parameter_index(s, fmt::format("${}", i + 1).c_str());
      const std::string& text = call.parameters[i];
      sqlite3_bind_text(s, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    }
    reply.value = {};
    reply.list.clear();
    const CallResult result = step(s, false, [&](sqlite3_stmt* row) {
      const Value text = column(row, 0);
      if (request.kind == OpKind::read_list)
        reply.list = decode_list(text.text);
      else if (!text.is_null())
        reply.value = decode_value(text.text);
    });
    const bool conditional = request.kind == OpKind::cas || request.kind == OpKind::remove;
    return conditional ? with_effect(result, reply) : result;
  }

  template <class OnRow>
  CallResult step(sqlite3_stmt* s, bool committing, OnRow on_row) {
    int code = sqlite3_step(s);
    for (; code == SQLITE_ROW; code = sqlite3_step(s)) on_row(s);
    if (code == SQLITE_DONE) {
      sqlite3_reset(s);
      return {};
    }
    return failed(committing, s, code);
  }

  CallResult failed(bool committing, sqlite3_stmt* s, int code) {
    std::string message = message_of(db_.get());
    sqlite3_reset(s);
    const bool duplicate = code == SQLITE_CONSTRAINT_PRIMARYKEY || code == SQLITE_CONSTRAINT_ROWID;
    const bool conflict =
        (code & 0xFF) == SQLITE_BUSY || (code & 0xFF) == SQLITE_LOCKED || duplicate;
    if (!conflict && committing) return CallResult::unknown(std::move(message));
    if (!conflict) return CallResult::fatal("SQLite: " + message);
    // If the database is busy, the transaction stays open, even at COMMIT.
    if (sqlite3_get_autocommit(db_.get()) == 0) {
      sqlite3_step(statements_[kRollback].get());
      sqlite3_reset(statements_[kRollback].get());
    }
    if (sqlite3_get_autocommit(db_.get()) == 0)
      return CallResult::fatal("SQLite cannot roll back: " + message_of(db_.get()));
    was_aborted_ = true;
    end_turn();
    return CallResult::aborted(std::move(message));
  }

  CallResult with_effect(CallResult result, Reply& reply) {
    if (result.ok()) reply.effect = sqlite3_changes(db_.get()) > 0;
    return result;
  }

  std::shared_ptr<CheckpointTurns> turns_;
  bool has_turn_ = false;
  std::shared_ptr<Standing> standing_ = std::make_shared<Standing>();
  uint64_t backend_ = 0;
  bool deferred_;
  bool adaptive_;
  bool was_aborted_ = false;
  std::string name_;     // name of the transaction, for the log
  SqliteConnection db_;  // outlives its statements
  std::array<Statement, kSql.size()> statements_;
  SqlStatements texts_;
  std::unordered_map<const char*, Statement> text_statements_;  // by the statement's text
};

std::string parent_of_temporary() {
  const char* named = std::getenv("TMPDIR");
  return named == nullptr ? "/tmp" : named;
}

// A new folder, removed with everything in it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create() {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    if (error)
      return io_error("there is no such folder for temporary files; expected TMPDIR to name one",
                      parent_of_temporary());
    std::string name = (parent / "assay-sqlite-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      return io_error(std::string("cannot create a temporary folder: ") + std::strerror(errno),
                      name);
    return TemporaryFolder(name);
  }
  TemporaryFolder() = default;
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

class SqliteDriver : public Driver {
 public:
  SqliteDriver(const DriverOptions& options, std::string path, TemporaryFolder folder,
               std::unique_ptr<SqliteLock> lock)
      : options_(options),
        path_(std::move(path)),
        folder_(std::move(folder)),
        lock_(std::move(lock)) {}

  bool supports(OpKind) const override { return true; }
  bool supports_conditions() const override { return true; }
  sql::Dialect dialect() const override {
    return {.database = "SQLite",
            .integer = "integer",
            .text = "text",
            .key_text = "text",
            .update_returns = true,
            .delete_returns = true,
            .row_locks = false,
            .looks_again = false};
  }

  Status prepare() override {
    Result<SqliteConnection> db = open(SQLITE_OPEN_CREATE);
    if (!db.ok()) return db.error();
    std::string script = "PRAGMA journal_mode = WAL;";
    for (const std::string& sql :
         SqlStatements(Upsert::on_conflict, options_.tables).schema("text", "text"))
      script += sql + ';';
    // These columns have no type, so integers and strings are returned as they were written.
    script +=
        "DROP TABLE assay_kv;"
        "CREATE TABLE assay_kv (k NOT NULL PRIMARY KEY, v) WITHOUT ROWID;";
    mark_ = begin_mark(options_.run);
    for (const std::string& sql : run_table(mark_)) script += sql + ';';
    if (options_.named) script += kLogTable;
    if (Status s = execute_script(db->get(), script.c_str()); !s.ok()) return s;
    ask_for_settings(db->get());
    return Ok{};
  }

  Status mark_finished() override {
    Result<SqliteConnection> db = open(0);
    if (!db.ok()) return db.error();
    return execute_script(db->get(), finish_statement(mark_).c_str());
  }

  Result<RunMark> prepared_by() override {
    Result<SqliteConnection> db = open(0);
    if (!db.ok()) return db.error();
    std::string run;
    const auto take = [](void* to, int, char** row, char**) {
      *static_cast<std::string*>(to) = row[0];
      return 0;
    };
    if (sqlite3_exec(db->get(), kRunQuestion, take, &run, nullptr) != SQLITE_OK)
      return io_error("SQLite: " + message_of(db->get()), path_);
    return parse_mark(run);
  }

  std::string address() const override { return std::string(kSqliteScheme) + path_; }

  Result<std::unique_ptr<DriverSession>> connect() override {
    Result<SqliteConnection> db = open(0);
    if (!db.ok()) return db.error();
    auto session = std::make_unique<SqliteSession>(std::move(*db), options_, turns_, *standings_);
    if (options_.named)
      if (Status s = session->log_changes(options_.tables); !s.ok()) return s.error();
    if (Status s = session->prepare(); !s.ok()) return s.error();
    return std::unique_ptr<DriverSession>(std::move(session));
  }

  std::unique_ptr<LockView> lock_view() override {
    return std::make_unique<SqliteLocks>(standings_);
  }

  std::string describe() const override {
    return describe_database("SQLite", sqlite3_libversion(), options_.isolation, settings_);
  }

 private:
  // Sets what applies to all connections of this driver.
  void ask_for_settings(sqlite3* db) {
    settings_.clear();
    for (const char* name : {"journal_mode", "synchronous", "locking_mode", "read_uncommitted"}) {
      const auto take = [](void* to, int, char** row, char**) {
        *static_cast<std::string*>(to) = row[0] != nullptr ? row[0] : "";
        return 0;
      };
      std::string value;
      const std::string sql = std::string("PRAGMA ") + name;
      if (sqlite3_exec(db, sql.c_str(), take, &value, nullptr) == SQLITE_OK && !value.empty())
        settings_.emplace_back(name, value);
    }
  }

  Result<SqliteConnection> open(int flags) {
    sqlite3* db = nullptr;
    const int code = sqlite3_open_v2(path_.c_str(), &db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | flags, nullptr);
    SqliteConnection connection(db);
    if (code != SQLITE_OK) return io_error(std::string("SQLite: ") + sqlite3_errstr(code), path_);
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, static_cast<int>(options_.timeout.count()));
    // In WAL mode, NORMAL syncs only at checkpoints; a killed process loses nothing. A temporary
    // database need not be kept.
    const char* sync =
        folder_.path().empty() ? "PRAGMA synchronous = NORMAL;" : "PRAGMA synchronous = OFF;";
    if (Status s = execute_script(db, sync); !s.ok()) return s.error();
    return connection;
  }

  Status execute_script(sqlite3* db, const char* sql) {
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
      return io_error("SQLite: " + message_of(db), path_);
    return Ok{};
  }

  DriverOptions options_;
  std::string path_;
  TemporaryFolder folder_;
  std::unique_ptr<SqliteLock> lock_;
  std::shared_ptr<CheckpointTurns> turns_ = std::make_shared<CheckpointTurns>();
  std::shared_ptr<Standings> standings_ = std::make_shared<Standings>();
  RunMark mark_;
  Settings settings_;
};

Result<std::unique_ptr<Driver>> open_sqlite(const DriverOptions& options) {
  std::string path = options.url.substr(kSqliteScheme.size());
  if (path.starts_with("///")) path.erase(0, 2);
  if (path == ":memory:")
    return usage_error("sqlite::memory: belongs to one connection; leave the path out instead");
  TemporaryFolder folder;
  if (path.empty()) {
    Result<TemporaryFolder> created = TemporaryFolder::create();
    if (!created.ok()) return created.error();
    folder = std::move(*created);
    path = folder.path() + "/assay.db";
  }
  auto lock = SqliteLock::take(path);
  if (!lock.ok()) return lock.error();
  return std::unique_ptr<Driver>(std::make_unique<SqliteDriver>(
      options, std::move(path), std::move(folder), std::move(*lock)));
}

}  // namespace

const DriverInfo kSqlite = {"sqlite", "embedded SQLite in WAL mode; without a path a temporary one",
                            "sqlite:PATH", kSqliteIsolations, open_sqlite};

}  // namespace assay::internal::collect
