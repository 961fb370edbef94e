// PostgreSQL's log, as its slot returns it. Sessions log the name of their transaction together
// with its writes: the numbers that the server assigns are not enough, because after a crash it
// reuses a number that never reached the disk.
//
// A transaction whose COMMIT got no answer may be committed by its session long after the client
// has gone. So if there is one, the log is read only after all other sessions of the database have
// ended, or after a time limit.
#ifdef ASSAY_POSTGRESQL
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "collect/run_id.h"
#include "evidence/log.h"
#include "evidence/postgresql_slot.h"
#include "evidence/test_decoding.h"

namespace assay::internal::evidence {
namespace {

// The server's own background sessions are not counted. An ordinary user cannot see the type of
// other users' sessions.
constexpr std::string_view kOtherSessions =
    "SELECT pg_stat_clear_snapshot(), count(*) FROM pg_stat_activity WHERE datname = "
    "current_database() "
    "AND pid <> pg_backend_pid() AND coalesce(backend_type, 'client backend') = 'client backend'";
constexpr auto kPostgresqlEndFor = std::chrono::seconds(5);
constexpr auto kPostgresqlEndPause = std::chrono::milliseconds(20);

class PostgresqlLog : public Log {
 public:
  PostgresqlLog(PostgresqlSlot::Options options, bool alone, std::vector<collect::RowTable> tables)
      : options_(std::move(options)), alone_(alone), tables_(std::move(tables)) {}

  std::string source() const override { return "PostgreSQL's log, by test_decoding"; }

  Status start() override {
    if (Status s = connect(); !s.ok()) return s;
    return slot_->start();
  }

  // A permanent slot outlives its run.
  Status resume(const std::string&) override {
    if (Status s = connect(); !s.ok()) return s;
    return slot_->resume();
  }

  void ended(const collect::TxnRecord& record) override {
    if (record.status == TxnStatus::unknown) any_unknown_ = true;
  }

  Result<LogEnd> read(const std::function<void(LoggedTxn)>& take) override {
    if (Status s = slot_->reconnect(); !s.ok()) return s.error();
    LogEnd read;
    // After a crash a number may be reused, and a temporary slot is gone.
    read.numbers_name_txns = alone_ && !options_.permanent;
    read.sessions_ended = alone_ && any_unknown_ && sessions_end();
    // A mark after everything committed: once the log reaches it, all of that has been read.
    const auto end = slot_->mark();
    if (!end.ok()) return end.error();
    TestDecoding decoding(tables_);
    bool ended = false;
    const Status whole = slot_->read([&](std::string_view position, std::string_view line) {
      if (ended) return false;
      std::optional<LoggedTxn> txn = decoding.line(line, position);
      ended = decoding.message() == *end;
      if (ended || !txn) return !ended;
      read.position = txn->position;
      take(std::move(*txn));
      return true;
    });
    if (!whole.ok()) return whole.error();
    if (decoding.message() != *end) read.missing = "the log ends before its last mark";
    if (decoding.lacks_versions())
      read.missing = "a large value that did not change is not in the log";
    return read;
  }

 private:
  Status connect() {
    auto slot = PostgresqlSlot::open(options_);
    if (!slot.ok()) return slot.error();
    slot_ = std::move(*slot);
    return Ok{};
  }

  // Waits a while, and returns whether no other session is left in the database.
  bool sessions_end() {
    const auto deadline = std::chrono::steady_clock::now() + kPostgresqlEndFor;
    while (true) {
      const auto others = slot_->ask(std::string(kOtherSessions));
      if (!others.ok()) return false;
      if ((*others)[0][1] == "0") return true;
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(kPostgresqlEndPause);
    }
  }

  PostgresqlSlot::Options options_;
  bool alone_;  // every session of the run is on this server
  std::vector<collect::RowTable> tables_;
  std::atomic<bool> any_unknown_ = false;
  std::unique_ptr<PostgresqlSlot> slot_;
};

}  // namespace

Result<std::unique_ptr<Log>> open_postgresql_log(const collect::VersionLogOptions& options) {
  return std::unique_ptr<Log>(std::make_unique<PostgresqlLog>(
      PostgresqlSlot::Options{options.urls.front(),
                              fmt::format("assay_{}", collect::run_id_text(options.run)),
                              options.outlives_server},
      options.urls.size() == 1, options.row_tables));
}

}  // namespace assay::internal::evidence
#endif
