// PostgreSQL: logical decoding. A replication slot is made before the first transaction and read after the last; it gives
// whole transactions in the order of their commits, which is the order of the versions of each row, since a row stays
// locked until its writer commits. Sessions write the name of their transaction into the log with what they write: the numbers
// that the server gives are not enough, since after a crash one that never reached the disk is given again.
//
// A slot keeps the server from throwing its log away. So ours is temporary, which the server drops with the
// connection; only where the server is to be killed it is permanent, dropped when it was read, and what a killed run left
// behind is dropped by the next. What is left of a temporary slot after a crash of the server is nothing.
//
// A transaction whose COMMIT got no answer may be committed by its session long after the client has gone. So if there is any, the
// log is read when all other sessions of the database have ended, for a while at most.
#ifdef ASSAY_POSTGRESQL
#include <fmt/format.h>
#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "collect/run_id.h"
#include "evidence/log.h"
#include "evidence/test_decoding.h"

namespace assay::internal::evidence {
namespace {

constexpr auto kPostgresqlReconnectFor = std::chrono::seconds(30);
constexpr auto kPostgresqlReconnectPause = std::chrono::milliseconds(200);
// A transaction that changes nothing and tells its name: nobody else's, as an earlier reader may have left one.
constexpr std::string_view kMark =
    "SELECT name, pg_logical_emit_message(true, 'assay', name) FROM (SELECT 'end ' || "
    "pg_current_wal_insert_lsn() AS name OFFSET 0) mark";
// Not counted are those that serve the server itself. Of sessions of others an ordinary user does not see what they are.
constexpr std::string_view kOtherSessions =
    "SELECT pg_stat_clear_snapshot(), count(*) FROM pg_stat_activity WHERE datname = "
    "current_database() "
    "AND pid <> pg_backend_pid() AND coalesce(backend_type, 'client backend') = 'client backend'";
constexpr auto kPostgresqlEndFor = std::chrono::seconds(5);
constexpr auto kPostgresqlEndPause = std::chrono::milliseconds(20);
// Changes asked for at once, so that a long log never stands in memory as a whole.
constexpr int kBatch = 100'000;

struct ClosePostgresql {
  void operator()(PGconn* c) const { PQfinish(c); }
};
struct ClearResult {
  void operator()(PGresult* r) const { PQclear(r); }
};
using Answer = std::unique_ptr<PGresult, ClearResult>;

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

class PostgresqlLog : public Log {
 public:
  PostgresqlLog(std::string url, bool alone, uint64_t run, bool permanent)
      : url_(std::move(url)),
        alone_(alone),
        slot_(fmt::format("assay_{}", collect::run_id_text(run))),
        permanent_(permanent) {}

  ~PostgresqlLog() override {
    if (permanent_ && made_) static_cast<void>(ask(drop_statement()));
  }

  std::string source() const override { return "PostgreSQL's log, by test_decoding"; }

  Status start() override {
    if (Status s = connect(); !s.ok()) return s;
    const Answer level = ask("SHOW wal_level");
    if (!level) return failed();
    if (std::string_view(text(level, 0, 0)) != "logical")
      return usage_error(fmt::format(
          "PostgreSQL logs for wal_level = {}; the version order needs wal_level = logical",
          text(level, 0, 0)));
    // Of runs that were killed.
    if (!ask("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name "
             "~ '^assay_[0-9a-f]{12}$' AND NOT active AND database = current_database()"))
      return failed();
    if (!ask(fmt::format("SELECT pg_create_logical_replication_slot('{}', 'test_decoding', {})",
                         slot_, permanent_ ? "false" : "true")))
      return failed();
    made_ = true;
    return Ok{};
  }

  // A permanent slot outlives its run.
  Status resume(const std::string&) override {
    if (Status s = connect(); !s.ok()) return s;
    const Answer found = ask(fmt::format(
        "SELECT 1 FROM pg_replication_slots WHERE slot_name = '{}' AND NOT active", slot_));
    if (!found) return failed();
    if (PQntuples(found.get()) == 0)
      return usage_error(fmt::format(
          "there is no replication slot {}: it was temporary, as it is but with the fault kill or "
          "restart, or the next run has dropped it",
          slot_));
    permanent_ = made_ = true;
    return Ok{};
  }

  void settled(const collect::TxnRecord& record) override {
    if (record.status == TxnStatus::unknown) any_unknown_ = true;
  }

  Result<LogEnd> read(const std::function<void(LoggedTxn)>& take) override {
    if (Status s = reconnect(); !s.ok()) return s.error();
    LogEnd read;
    read.sessions_ended = alone_ && any_unknown_ && sessions_end();
    // Behind everything that is committed; where it comes in the log, all of that has come before.
    const Answer mark = ask(std::string(kMark));
    if (!mark) return failed().error();
    const std::string_view end = text(mark, 0, 0);
    const std::string question = fmt::format(
        "SELECT lsn, data FROM pg_logical_slot_get_changes('{}', NULL, {}, 'skip-empty-xacts', "
        "'1')",
        slot_, kBatch);
    TestDecoding decoding;
    for (;;) {
      const Answer changes = ask(question);
      if (!changes) return failed().error();
      const int rows = PQntuples(changes.get());
      for (int i = 0; i < rows; ++i) {
        std::optional<LoggedTxn> txn = decoding.line(text(changes, i, 1), text(changes, i, 0));
        if (decoding.message() == end) return read;
        if (!txn) continue;
        read.position = txn->position;
        take(std::move(*txn));
      }
      if (rows == 0) break;
    }
    read.missing = "the log ends before its last mark";
    return read;
  }

 private:
  Status connect() {
    const char* names[] = {"dbname", "connect_timeout", "application_name", nullptr};
    const char* values[] = {url_.c_str(), "5", "assay", nullptr};
    connection_.reset(PQconnectdbParams(names, values, 1));
    if (PQstatus(connection_.get()) != CONNECTION_OK) return failed();
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    const Answer version = ask("SELECT version()");
    if (!version) return failed();
    const std::string_view name = text(version, 0, 0);
    if (!name.starts_with("PostgreSQL") || name.find("-YB-") != std::string_view::npos)
      return usage_error(
          fmt::format("the version order is read from PostgreSQL's log; this is {}", name));
    return Ok{};
  }

  // The server may have gone meanwhile, and be on its way back.
  Status reconnect() {
    if (ask("SELECT 1")) return Ok{};
    if (!permanent_)
      return io_error("PostgreSQL: the connection was lost, and the temporary slot with it");
    const auto deadline = std::chrono::steady_clock::now() + kPostgresqlReconnectFor;
    while (true) {
      Status s = connect();
      if (s.ok() || std::chrono::steady_clock::now() > deadline) return s;
      std::this_thread::sleep_for(kPostgresqlReconnectPause);
    }
  }

  // Whether nobody else is left in the database, after some patience.
  bool sessions_end() {
    const auto deadline = std::chrono::steady_clock::now() + kPostgresqlEndFor;
    while (true) {
      const Answer others = ask(std::string(kOtherSessions));
      if (!others) return false;
      if (text(others, 0, 1) == "0") return true;
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(kPostgresqlEndPause);
    }
  }

  std::string drop_statement() const {
    return fmt::format("SELECT pg_drop_replication_slot('{}')", slot_);
  }

  Answer ask(const std::string& sql) {
    Answer answer(PQexec(connection_.get(), sql.c_str()));
    const ExecStatusType status = PQresultStatus(answer.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return nullptr;
    return answer;
  }
  static std::string_view text(const Answer& answer, int row, int column) {
    return {PQgetvalue(answer.get(), row, column),
            static_cast<size_t>(PQgetlength(answer.get(), row, column))};
  }
  Status failed() const {
    return io_error("PostgreSQL: " + first_line(PQerrorMessage(connection_.get())));
  }

  std::string url_;
  bool alone_;  // every session of the run is on this server
  std::atomic<bool> any_unknown_ = false;
  std::string slot_;
  bool permanent_;
  bool made_ = false;
  std::unique_ptr<PGconn, ClosePostgresql> connection_;
};

}  // namespace

Result<std::unique_ptr<Log>> open_postgresql_log(const collect::VersionLogOptions& options) {
  return std::unique_ptr<Log>(std::make_unique<PostgresqlLog>(
      options.urls.front(), options.urls.size() == 1, options.run, options.outlives_server));
}

}  // namespace assay::internal::evidence
#endif
