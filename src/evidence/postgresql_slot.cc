// PostgreSQL: logical decoding. A replication slot is created before the first transaction and read
// after the last; it returns whole transactions in the order of their commits, which is the order
// of the versions of each row, since a row stays locked until its writer commits.
//
//   slot, 739 UPDATE x, 740 UPDATE x, COMMIT 740 waits, COMMIT 739, COMMIT 740       BEGIN 739 …
//   COMMIT 739, BEGIN 740 …
//
// A slot keeps the server from removing its log. So the slot is temporary: the server drops it with
// the connection, and it does not survive a crash of the server. If the run kills the server, the
// slot is permanent and is dropped after it was read; the next run drops the slot of a killed
// run.
//
// Cost: the log is decoded once, in batches. Source: PostgreSQL's manual, 49 (logical decoding).
#include "evidence/postgresql_slot.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#ifdef ASSAY_POSTGRESQL
#include <libpq-fe.h>

#include "collect/client_library.h"
#endif

namespace assay::internal::evidence {

#ifdef ASSAY_POSTGRESQL
namespace {

constexpr auto kPostgresqlReconnectFor = std::chrono::seconds(30);
constexpr auto kPostgresqlReconnectPause = std::chrono::milliseconds(200);
// A transaction that changes nothing and logs a new name: an earlier reader may have left an old
// one.
constexpr std::string_view kMark =
    "SELECT name, pg_logical_emit_message(true, 'assay', name) FROM (SELECT 'end ' || "
    "pg_current_wal_insert_lsn() AS name OFFSET 0) mark";
// The number of changes requested at a time, so that a long log is never in memory as a whole.
constexpr int kBatch = 100'000;

struct ClosePostgresql {
  void operator()(PGconn* c) const { PQfinish(c); }
};
struct FreeSettings {
  void operator()(PQconninfoOption* all) const { PQconninfoFree(all); }
};
struct ClearResult {
  void operator()(PGresult* r) const { PQclear(r); }
};
using Answer = std::unique_ptr<PGresult, ClearResult>;

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

class Slot : public PostgresqlSlot {
 public:
  explicit Slot(Options options) : options_(std::move(options)) {}

  ~Slot() override {
    if (options_.permanent && made_)
      static_cast<void>(send(fmt::format("SELECT pg_drop_replication_slot('{}')", options_.name)));
  }

  Status connect() {
    const char* names[] = {"dbname", "connect_timeout", "application_name", nullptr};
    const char* values[] = {options_.url.c_str(), "5", "assay", nullptr};
    connection_.reset(PQconnectdbParams(names, values, 1));
    if (PQstatus(connection_.get()) != CONNECTION_OK) return failed();
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    const auto version = ask("SELECT version()");
    if (!version.ok()) return version.error();
    const std::string& name = (*version)[0][0];
    if (!name.starts_with("PostgreSQL") || name.find("-YB-") != std::string::npos)
      return usage_error(
          fmt::format("the version order is read from PostgreSQL's log; this is {}", name));
    return Ok{};
  }

  Status start() override {
    const auto level = ask("SHOW wal_level");
    if (!level.ok()) return level.error();
    if ((*level)[0][0] != "logical")
      return usage_error(fmt::format(
          "PostgreSQL runs with wal_level = {}; the version order needs wal_level = logical",
          (*level)[0][0]));
    // Slots of killed runs.
    if (!send(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name "
            "~ '^assay_[0-9a-f]{12}$' AND NOT active AND database = current_database()"))
      return failed();
    if (!send(fmt::format("SELECT pg_create_logical_replication_slot('{}', 'test_decoding', {})",
                          options_.name, options_.permanent ? "false" : "true")))
      return failed();
    made_ = true;
    return Ok{};
  }

  Status resume() override {
    const auto found = ask(fmt::format(
        "SELECT 1 FROM pg_replication_slots WHERE slot_name = '{}' AND NOT active", options_.name));
    if (!found.ok()) return found.error();
    if (found->empty())
      return usage_error(
          fmt::format("there is no replication slot {}: it was temporary (permanent only with the "
                      "faults kill and restart), or the next run has dropped it",
                      options_.name));
    options_.permanent = made_ = true;
    return Ok{};
  }

  Status read(const std::function<bool(std::string_view, std::string_view)>& take) override {
    const std::string question = fmt::format(
        "SELECT lsn, data FROM pg_logical_slot_get_changes('{}', NULL, {}, 'skip-empty-xacts', "
        "'1')",
        options_.name, kBatch);
    for (;;) {
      bool any = false, more = true,
           answered = PQsendQuery(connection_.get(), question.c_str()) != 0;
      PQsetSingleRowMode(connection_.get());
      while (const Answer row{PQgetResult(connection_.get())}) {
        const ExecStatusType status = PQresultStatus(row.get());
        answered = answered && (status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK);
        if (status != PGRES_SINGLE_TUPLE) continue;
        any = true;
        more = take(text(row, 0, 0), text(row, 0, 1)) && more;
      }
      if (!answered) return failed();
      if (!any || !more) return Ok{};
    }
  }

  Result<std::string> mark() override {
    const auto mark = ask(std::string(kMark));
    if (!mark.ok()) return mark.error();
    return (*mark)[0][0];
  }

  Result<Rows> ask(const std::string& sql) override {
    const Answer answer = send(sql);
    if (!answer) return failed().error();
    Rows rows(static_cast<size_t>(PQntuples(answer.get())));
    for (size_t i = 0; i < rows.size(); ++i)
      for (int column = 0; column < PQnfields(answer.get()); ++column)
        rows[i].emplace_back(text(answer, static_cast<int>(i), column));
    return rows;
  }

  // The server may have stopped meanwhile and be restarting.
  Status reconnect() override {
    if (send("SELECT 1")) return Ok{};
    if (!options_.permanent)
      return io_error("PostgreSQL: the connection was lost, and the temporary slot with it");
    const auto deadline = std::chrono::steady_clock::now() + kPostgresqlReconnectFor;
    while (true) {
      Status s = connect();
      if (s.ok() || std::chrono::steady_clock::now() > deadline) return s;
      std::this_thread::sleep_for(kPostgresqlReconnectPause);
    }
  }

  std::string host() const override {
    const char* const host = PQhost(connection_.get());
    return host == nullptr || *host == '\0' ? "localhost" : host;
  }
  uint16_t port() const override {
    const std::string_view text = PQport(connection_.get());
    uint16_t port = 5432;
    std::from_chars(text.data(), text.data() + text.size(), port);
    return port;
  }
  std::string database() const override { return PQdb(connection_.get()); }
  std::string setting(std::string_view word) const override {
    const std::unique_ptr<PQconninfoOption, FreeSettings> all(PQconninfo(connection_.get()));
    for (const PQconninfoOption* of = all.get(); of != nullptr && of->keyword != nullptr; ++of)
      if (of->keyword == word && of->val != nullptr) return of->val;
    return {};
  }
  bool encrypted() const override { return PQsslInUse(connection_.get()) != 0; }

 private:
  Answer send(const std::string& sql) {
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

  Options options_;
  bool made_ = false;
  std::unique_ptr<PGconn, ClosePostgresql> connection_;
};

}  // namespace

Result<std::unique_ptr<PostgresqlSlot>> PostgresqlSlot::open(Options options) {
  if (Status s = load_client(kLibpq); !s.ok()) return s.error();
  auto slot = std::make_unique<Slot>(std::move(options));
  if (Status s = slot->connect(); !s.ok()) return s.error();
  return std::unique_ptr<PostgresqlSlot>(std::move(slot));
}
#else
Result<std::unique_ptr<PostgresqlSlot>> PostgresqlSlot::open(Options) {
  return usage_error("this assay was built without PostgreSQL's client (Debian: libpq-dev)");
}
#endif

}  // namespace assay::internal::evidence
