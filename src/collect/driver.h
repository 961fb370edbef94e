// Drivers: how to communicate with a database. A driver is one file in drivers/ and one line in
// drivers/registry.cc. It translates; it never retries and never guesses an outcome.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"
#include "collect/run_id.h"
#include "collect/schema.h"
#include "collect/sql/dialect.h"
#include "collect/step.h"

namespace assay::internal {
struct ClientLibrary;
}

namespace assay::internal::collect {

// How a call ended.
//   ok
//   aborted  the transaction certainly has no effect and never will (a conflict, a time-out or a
//            lost connection while the server cannot have committed)
//   unknown  the connection was lost or the time ran out after COMMIT was sent
//   fatal    going on makes no sense (disk full, no such table, a bug of ours): the run ends
enum class CallOutcome : uint8_t { ok, aborted, unknown, fatal };

struct CallResult {
  CallOutcome outcome = CallOutcome::ok;
  bool session_lost = false;  // the session must be connected anew before its next transaction
  std::string message;        // what the database said; empty if ok

  bool ok() const { return outcome == CallOutcome::ok; }
  static CallResult aborted(std::string message, bool lost = false) {
    return {CallOutcome::aborted, lost, std::move(message)};
  }
  static CallResult unknown(std::string message, bool lost = true) {
    return {CallOutcome::unknown, lost, std::move(message)};
  }
  static CallResult fatal(std::string message) {
    return {CallOutcome::fatal, true, std::move(message)};
  }
};

// A statement in the database's own SQL; its parameters are $1, $2, … The text lives as long as the
// session.
struct SqlCommand {
  std::string_view sql;
  std::span<const Value> parameters;
  bool asks_snapshot = false;  // whether it returns the snapshot that it looks at, if the session
                               // was asked for that (`named`)
};
struct SqlAnswer {
  std::vector<std::vector<Value>> rows;  // integers as integers, everything else as text
  uint64_t changed = 0;                  // number of rows
  std::string snapshot = {};             // as in Reply
};

// The result of a statement as its user wrote it.
struct Spoken {
  std::string error;  // what the database said, with its code; empty: it was done
  std::string tag;  // what was done, in the database's words: "UPDATE 2"; empty if it does not say
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;
  std::vector<std::string> notices;
  bool open = false;  // whether a transaction is open afterwards
};

// Tells which connections wait for a lock, according to the server itself.
class LockView {
 public:
  virtual ~LockView() = default;
  // Whether this connection waits for one of the others, given by their numbers
  // (DriverSession::backend).
  virtual bool waits(uint64_t backend, std::span<const uint64_t> others) = 0;
};

// The view for a database in which no statement waits for another session, however long it takes.
struct NoWaits : LockView {
  bool waits(uint64_t, std::span<const uint64_t>) override { return false; }
};

// The database's own logical times of a transaction (TxnRecord), if it reports them.
struct OwnTimes {
  int64_t start_ts = Interval::kUnknown, commit_ts = Interval::kUnknown;
};

// One connection, used by one thread. After a call that is not ok the transaction is over and the
// next call is begin (on a new connection if session_lost). No call takes much longer than the
// time-out of the options.
class DriverSession {
 public:
  virtual ~DriverSession() = default;
  virtual CallResult begin() = 0;
  virtual CallResult call(const Request& request, Reply& reply) = 0;
  // To be called only if Driver::dialect refuses nothing.
  virtual CallResult execute(const SqlCommand&, SqlAnswer&) {
    return CallResult::fatal("the driver does not support SQL");
  }
  // Executes statements written by a user, which may begin and end transactions: one after the
  // other until one fails, with an answer for each that was sent. An error means that the
  // connection is lost.
  virtual Status speak(std::span<const std::string>, std::vector<Spoken>&) {
    return usage_error(
        "this database does not support your own SQL; expected PostgreSQL, MariaDB, MySQL or "
        "SQLite");
  }
  virtual CallResult commit() = 0;
  // Ends a transaction that the client gives up: aborted, or fatal.
  virtual CallResult abort() = 0;
  // Whether `whole` may be called.
  virtual bool takes_whole() const { return false; }
  // Executes a transaction from begin to commit in one call. The replies are set if it returns ok.
  virtual CallResult whole(std::span<const Request>, std::vector<Reply>&) {
    return CallResult::fatal("no whole transactions");
  }
  // Whether the endpoint takes no writes, like a standby.
  virtual bool read_only() const { return false; }
  // The number of the connection in the server's log and tables; 0 if there is none.
  virtual uint64_t backend() const { return 0; }
  // Passes on the name in the history of the transaction that begins next, for
  // DriverOptions::named.
  virtual void name_transaction(std::string_view) {}
  // The server's own name for the open transaction, once it has written something; empty if that is
  // not known.
  virtual std::string server_id() const { return {}; }
  // The times of the transaction that ended last.
  virtual OwnTimes own_times() const { return {}; }
};

struct DriverOptions {
  std::string url;        // "sqlite:/tmp/x.db"; further endpoints have their own drivers
  std::string isolation;  // as the database spells it; empty: the driver's default
  std::chrono::milliseconds timeout{5000};  // for each statement
  uint64_t seed = 1;
  std::vector<Table> tables = {};  // tables of the workload
  // Names the run, the same at all its endpoints: a session connects only after the tables of this
  // run have arrived, since a replica that lags would show those of the previous run. 0: anywhere.
  uint64_t run = 0;
  // Whether the log of the database is read afterwards: transactions that write must then be
  // recognizable there, by their names, and queries by condition ask for their snapshots.
  bool named = false;
};

// A database at one endpoint. `connect` may be called from several threads at once.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual bool supports(OpKind kind) const = 0;
  // Whether a range may have conditions on values (Request::least).
  virtual bool supports_conditions() const { return false; }
  // Whether its calls never wait for each other and their results depend only on the order of all
  // calls: then sessions may take turns (Turns).
  virtual bool takes_turns() const { return false; }
  // The dialect of its SQL; to be called after `prepare`.
  virtual sql::Dialect dialect() const {
    return {.refusal =
                "this database does not support SQL; expected PostgreSQL, MySQL, MariaDB, H2 or "
                "SQLite"};
  }
  // Creates the tables, empty. Called once per run, at the first endpoint only.
  virtual Status prepare() = 0;
  virtual Result<std::unique_ptr<DriverSession>> connect() = 0;
  // Returns null if the server does not say which connections wait. To be used by one thread.
  virtual std::unique_ptr<LockView> lock_view() { return nullptr; }
  // The mark of the run that prepared the tables; that of no run if the database does not say.
  virtual Result<RunMark> prepared_by() { return RunMark{}; }
  // Notes in the mark left by `prepare` that its run has finished.
  virtual Status mark_finished() { return Ok{}; }
  // Name, version and the isolation in force, as a JSON object for the history's header.
  virtual std::string describe() const = 0;
  // A URL by which others reach the same database; empty: the one with which the driver was opened.
  virtual std::string address() const { return {}; }
};

struct IsolationName {
  std::string_view name;
  std::string_view summary;
};

struct DriverInfo {
  std::string_view scheme;  // scheme of the URL: "sqlite"
  std::string_view summary;
  std::string_view example;                   // an example of a URL
  std::span<const IsolationName> isolations;  // the first is the default; empty: any is accepted
  Result<std::unique_ptr<Driver>> (*open)(const DriverOptions&);
  std::string_view alias = {};            // another scheme for the same driver
  const ClientLibrary* client = nullptr;  // what must be on the machine; null: nothing
};

std::span<const DriverInfo> all_drivers();
// A driver that this build left out, and the Debian package that was missing.
struct MissingDriver {
  std::string_view scheme, package;
};
std::span<const MissingDriver> missing_drivers();
// Opens the driver that the URL's scheme names; the isolation must be in the driver's list, in
// upper or lower case.
Result<std::unique_ptr<Driver>> open_driver(const DriverOptions& options);

}  // namespace assay::internal::collect
