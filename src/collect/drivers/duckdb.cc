// Embedded DuckDB, one connection per session, in memory or in a file that no other process has
// open.
//
// A transaction has a snapshot from its first statement on, and no statement waits for a lock: one
// that changes a row which another transaction has changed since the snapshot is refused at once,
// and the transaction with it. COMMIT may also be refused. A COMMIT after a refusal succeeds
// without effect.
#include "base/duckdb.h"

#include <fmt/format.h>

#include <memory>
#include <unordered_map>

#include "collect/drivers/description.h"
#include "collect/drivers/registry.h"
#include "collect/drivers/sql.h"
#include "collect/run_id.h"
#include "collect/schedule/statements.h"

namespace assay::internal::collect {
namespace {

constexpr std::string_view kDuckdbScheme = "duckdb:";
constexpr IsolationName kDuckdbIsolations[] = {
    {"snapshot", "the only one that it has"},
};
constexpr int kRowsOfAQuery = 3;

// Closes the database when it is destroyed.
struct Database {
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() {
    if (handle != nullptr) duckdb_close(&handle);
  }
  void* handle = nullptr;
};

// One line of a message, without the place in the statement.
std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

class DuckdbSession : public DriverSession {
 public:
  DuckdbSession(std::shared_ptr<Database> database, std::span<const Table> tables)
      : database_(std::move(database)), statements_(Upsert::on_conflict, tables) {}
  ~DuckdbSession() override {
    for (auto& [sql, statement] : prepared_) duckdb_destroy_prepare(&statement);
    if (connection_ != nullptr) duckdb_disconnect(&connection_);
  }

  Status connect() {
    if (duckdb_connect(database_->handle, &connection_) == 0) return Ok{};
    return io_error("DuckDB: no connection");
  }

  CallResult begin() override { return judge(run("BEGIN")); }
  CallResult call(const Request& request, Reply& reply) override {
    const SqlCall call = statements_.of(request);
    if (call.sql.empty()) return CallResult::fatal("DuckDB: unsupported kind of operation");
    const Answer answer = run(call.sql, call.parameters, true);
    CallResult result = judge(answer);
    if (result.ok()) take_reply(request, answer.spoken.rows, answer.changed, reply);
    return result;
  }
  CallResult commit() override { return judge(run("COMMIT")); }
  CallResult abort() override {
    run("ROLLBACK");
    return CallResult::aborted("rolled back by the client");
  }

  Status speak(std::span<const std::string> statements, std::vector<Spoken>& answers) override {
    for (const std::string& sql : statements) {
      Spoken& spoken = answers.emplace_back(run(sql).spoken);
      const bool fine = spoken.error.empty();
      const std::string word = schedule::first_word(sql);
      const bool ends = schedule::is_one_of(word, {"commit", "rollback", "end"});
      if (ends && is_refused_) spoken.tag = "ROLLBACK";
      if (fine && schedule::is_one_of(word, {"begin", "start"})) is_open_ = true;
      if (ends) is_open_ = is_refused_ = false;
      // Not every error ends a transaction.
      if (!fine && is_open_) is_refused_ = !run("SELECT 1").spoken.error.empty();
      spoken.open = is_open_;
      if (!fine) break;
    }
    return Ok{};
  }

  Status must(const std::string& sql) {
    const Answer answer = run(sql);
    return answer.spoken.error.empty() ? Status(Ok{}) : io_error("DuckDB: " + answer.spoken.error);
  }
  std::string ask(const std::string& sql) {
    const Answer answer = run(sql);
    return answer.spoken.rows.empty() ? "" : answer.spoken.rows[0][0].value_or("");
  }

 private:
  struct Answer {
    Spoken spoken;
    uint64_t changed = 0;
  };

  // `kept`: the statement is prepared once, as its text lives on.
  Answer run(std::string_view sql, std::span<const std::string> parameters = {},
             bool kept = false) {
    Answer answer;
    void* made = nullptr;
    void*& statement = kept ? prepared_[sql.data()] : made;
    if (statement == nullptr &&
        duckdb_prepare(connection_, std::string(sql).c_str(), &statement) != 0) {
      answer.spoken.error = first_line(duckdb_prepare_error(statement));
    } else {
      for (size_t i = 0; i < parameters.size(); ++i)
        duckdb_bind_varchar(statement, i + 1, parameters[i].c_str());
      DuckdbResult result{};
      if (duckdb_execute_prepared(statement, &result) == 0)
        take(result, answer);
      else
        answer.spoken.error = first_line(duckdb_result_error(&result));
      duckdb_destroy_result(&result);
      if (kept) return answer;
    }
    duckdb_destroy_prepare(&statement);
    return answer;
  }

  static void take(DuckdbResult& result, Answer& answer) {
    answer.changed = duckdb_rows_changed(&result);
    if (duckdb_result_return_type(result) != kRowsOfAQuery) return;
    const uint64_t columns = duckdb_column_count(&result), rows = duckdb_row_count(&result);
    for (uint64_t c = 0; c < columns; ++c)
      answer.spoken.columns.emplace_back(duckdb_column_name(&result, c));
    for (uint64_t r = 0; r < rows; ++r) {
      auto& cells = answer.spoken.rows.emplace_back();
      for (uint64_t c = 0; c < columns; ++c) {
        char* const text = duckdb_value_varchar(&result, c, r);
        cells.push_back(text == nullptr ? std::nullopt : std::optional<std::string>(text));
        duckdb_free(text);
      }
    }
  }

  CallResult judge(const Answer& answer) {
    const std::string& error = answer.spoken.error;
    if (error.empty()) return {};
    run("ROLLBACK");
    const bool refused =
        error.starts_with("TransactionContext Error") || error.starts_with("Constraint Error");
    return refused ? CallResult::aborted(error.substr(0, error.find(" \"")))
                   : CallResult::fatal("DuckDB: " + error);
  }

  std::shared_ptr<Database> database_;
  void* connection_ = nullptr;
  SqlStatements statements_;
  std::unordered_map<const char*, void*> prepared_;  // by the statement's text
  bool is_open_ = false, is_refused_ = false;        // about the transaction of statements passed
                                                     // to `speak`
};

class DuckdbDriver : public Driver {
 public:
  DuckdbDriver(const DriverOptions& options, std::shared_ptr<Database> database)
      : options_(options), database_(std::move(database)) {}

  bool supports(OpKind) const override { return true; }
  bool supports_conditions() const override { return true; }
  sql::Dialect dialect() const override {
    return {.database = "DuckDB",
            .refusal = "transactions in SQL are not supported on DuckDB; expected assay play"};
  }

  Status prepare() override {
    auto session = open();
    if (!session.ok()) return session.error();
    mark_ = begin_mark(options_.run);
    std::vector<std::string> all =
        SqlStatements(Upsert::on_conflict, options_.tables).schema("varchar", "varchar");
    for (std::string& sql : run_table(mark_)) all.push_back(std::move(sql));
    for (const std::string& sql : all)
      if (Status s = (*session)->must(sql); !s.ok()) return s;
    return Ok{};
  }
  Result<std::unique_ptr<DriverSession>> connect() override {
    auto session = open();
    if (!session.ok()) return session.error();
    return std::unique_ptr<DriverSession>(std::move(*session));
  }
  Status mark_finished() override {
    auto session = open();
    return session.ok() ? (*session)->must(finish_statement(mark_)) : session.error();
  }
  Result<RunMark> prepared_by() override {
    auto session = open();
    if (!session.ok()) return session.error();
    return parse_mark((*session)->ask(kRunQuestion));
  }
  std::unique_ptr<LockView> lock_view() override { return std::make_unique<NoWaits>(); }
  std::string describe() const override {
    return describe_database("DuckDB", duckdb_library_version(), options_.isolation, {});
  }

 private:
  Result<std::unique_ptr<DuckdbSession>> open() {
    auto session = std::make_unique<DuckdbSession>(database_, options_.tables);
    if (Status s = session->connect(); !s.ok()) return s.error();
    return session;
  }

  DriverOptions options_;
  std::shared_ptr<Database> database_;
  RunMark mark_;
};

Result<std::unique_ptr<Driver>> open_duckdb(const DriverOptions& options) {
  std::string path = options.url.substr(kDuckdbScheme.size());
  if (path.starts_with("///")) path.erase(0, 2);
  auto database = std::make_shared<Database>();
  char* error = nullptr;
  if (duckdb_open_ext(path.empty() ? nullptr : path.c_str(), &database->handle, nullptr, &error) !=
      0) {
    const std::string why = first_line(error == nullptr ? "no reason given" : error);
    duckdb_free(error);
    return io_error("DuckDB: " + why, path);
  }
  return std::unique_ptr<Driver>(std::make_unique<DuckdbDriver>(options, std::move(database)));
}

}  // namespace

const DriverInfo kDuckdb = {"duckdb",      "embedded DuckDB; without a path in memory",
                            "duckdb:PATH", kDuckdbIsolations,
                            open_duckdb,   {},
                            &kLibduckdb};

}  // namespace assay::internal::collect
