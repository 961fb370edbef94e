// PostgreSQL through libpq, and what speaks its protocol.
//
// Every statement is sent without blocking and waited for with a deadline of our own, since a server
// that hangs does not keep its statement_timeout. What an error means for the transaction:
//
//   SQLSTATE 40xxx, 57014, 55P03, 25006, 23505   refused: aborted
//   connection lost or deadline passed           before COMMIT was sent: aborted, as the server undoes what
//                                                is open on a lost connection; after that: unknown
//   anything else                                fatal
//
// A COMMIT that is answered with ROLLBACK is an abort, too.
#ifdef ASSAY_POSTGRESQL
#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <charconv>

#include "collect/drivers/registry.h"

namespace assay::collect {
namespace {

using Steady = std::chrono::steady_clock;

constexpr IsolationName kIsolations[] = {
    {"default", "what the server's default_transaction_isolation says"},
    {"read committed", "BEGIN ISOLATION LEVEL READ COMMITTED"},
    {"repeatable read", "BEGIN ISOLATION LEVEL REPEATABLE READ: snapshot isolation"},
    {"serializable", "BEGIN ISOLATION LEVEL SERIALIZABLE"},
    {"read uncommitted", "the same as read committed"},
};

// The client waits so much longer than the server, so that an orderly error comes first.
constexpr auto kGrace = std::chrono::milliseconds(1000);

struct CloseConnection {
  void operator()(PGconn* c) const { PQfinish(c); }
};
using Connection = std::unique_ptr<PGconn, CloseConnection>;

struct ClearResult {
  void operator()(PGresult* r) const { PQclear(r); }
};
using Answer = std::unique_ptr<PGresult, ClearResult>;

// Values in a text column: an integer as its digits, a string after a quotation mark.
std::string encode(const Value& v) {
  return v.is_integer() ? std::to_string(v.integer) : '"' + v.text;
}

Value decode(std::string_view text) {
  if (text.starts_with('"')) return Value::of(std::string(text.substr(1)));
  int64_t integer = 0;
  std::from_chars(text.data(), text.data() + text.size(), integer);
  return Value::of(integer);
}

std::string one_line(std::string message) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return message.substr(0, message.find('\n'));
}

bool refused(std::string_view sqlstate) {
  return sqlstate.starts_with("40") || sqlstate == "57014" || sqlstate == "55P03" ||
         sqlstate == "25006" || sqlstate == "23505";
}

// The server ends the connection: shutdown, crash, recovery, or the network.
bool means_lost(std::string_view sqlstate) {
  return sqlstate.empty() || sqlstate.starts_with("08") || sqlstate.starts_with("57P");
}

enum Sql { kRead, kWrite, kInsert, kCas };
struct Prepared {
  const char* name;
  const char* text;
};
constexpr std::array<Prepared, 4> kSql = {{
    {"assay_read", "SELECT v FROM assay_kv WHERE k = $1"},
    {"assay_write",
     "INSERT INTO assay_kv (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v"},
    {"assay_insert", "INSERT INTO assay_kv (k, v) VALUES ($1, $2) ON CONFLICT (k) DO NOTHING"},
    {"assay_cas", "UPDATE assay_kv SET v = $2 WHERE k = $1 AND v = $3"},
}};

class PostgresqlSession : public DriverSession {
 public:
  PostgresqlSession(Connection connection, std::string begin, std::chrono::milliseconds timeout)
      : connection_(std::move(connection)), begin_(std::move(begin)), timeout_(timeout) {}

  Status prepare() {
    const std::string limit =
        fmt::format("SET statement_timeout = {}; SET lock_timeout = 0", timeout_.count());
    if (Status s = must(send_text(limit)); !s.ok()) return s;
    for (const Prepared& sql : kSql)
      if (Status s = must(PQsendPrepare(connection_.get(), sql.name, sql.text, 0, nullptr));
          !s.ok())
        return s;
    read_only_ = ask("SELECT pg_is_in_recovery()") == "t";
    return Ok{};
  }

  bool read_only() const override { return read_only_; }

  CallResult begin() override { return judge(send_text(begin_), false); }

  CallResult call(const Request& request, Reply& reply) override {
    switch (request.kind) {
      case OpKind::read: {
        const CallResult result = execute(kRead, {&request.key});
        const bool found = result.ok() && PQntuples(answer_.get()) > 0;
        reply.value = found ? decode(PQgetvalue(answer_.get(), 0, 0)) : Value();
        return result;
      }
      case OpKind::write:
        return execute(kWrite, {&request.key, &request.value});
      case OpKind::insert:
        return with_effect(execute(kInsert, {&request.key, &request.value}), reply);
      case OpKind::cas:
        return with_effect(execute(kCas, {&request.key, &request.value, &request.expected}), reply);
      default:
        return CallResult::fatal("PostgreSQL: unsupported kind of operation");
    }
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

  // One statement outside of transactions; for setting up.
  Status run(const std::string& sql) { return must(send_text(sql)); }
  std::string ask(const std::string& sql) {
    if (!run(sql).ok() || PQntuples(answer_.get()) == 0) return {};
    return PQgetvalue(answer_.get(), 0, 0);
  }

 private:
  int send_text(const std::string& sql) { return PQsendQuery(connection_.get(), sql.c_str()); }

  CallResult execute(Sql sql, std::initializer_list<const Value*> values) {
    std::array<std::string, 3> texts;
    std::array<const char*, 3> parameters{};
    int n = 0;
    for (const Value* v : values) {
      texts[n] = encode(*v);
      parameters[n] = texts[n].c_str();
      ++n;
    }
    return judge(PQsendQueryPrepared(connection_.get(), kSql[sql].name, n, parameters.data(),
                                     nullptr, nullptr, 0),
                 false);
  }

  // Waits for the answer to what was sent, into answer_; false if the connection is of no use any more.
  bool receive() {
    const auto deadline = Steady::now() + timeout_ + kGrace;
    answer_.reset();
    while (true) {
      while (PQisBusy(connection_.get()) == 0) {
        Answer next(PQgetResult(connection_.get()));
        if (!next) return answer_ != nullptr;
        // Of several results the first error counts, otherwise the last.
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
      if (poll(&socket, 1, static_cast<int>(left)) < 0 && errno != EINTR) return false;
      if ((socket.revents & (POLLIN | POLLERR | POLLHUP)) != 0 &&
          PQconsumeInput(connection_.get()) == 0)
        return false;
    }
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

  // False if the connection is not usable afterwards.
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

  CallResult with_effect(CallResult result, Reply& reply) {
    reply.effect = result.ok() && std::string_view(PQcmdTuples(answer_.get())) == "1";
    return result;
  }

  Connection connection_;
  std::string begin_;
  std::chrono::milliseconds timeout_;
  Answer answer_;
  std::string lost_because_;
  bool read_only_ = false;
};

class PostgresqlDriver : public Driver {
 public:
  explicit PostgresqlDriver(const DriverOptions& options) : options_(options) {}

  bool supports(OpKind kind) const override {
    return kind == OpKind::read || kind == OpKind::write || kind == OpKind::insert ||
           kind == OpKind::cas;
  }

  Status prepare() override {
    auto session = open();
    if (!session.ok()) return session.error();
    for (const char* sql : {"SET client_min_messages = warning", "DROP TABLE IF EXISTS assay_kv",
                            "CREATE TABLE assay_kv (k text PRIMARY KEY, v text NOT NULL)"})
      if (Status s = (*session)->run(sql); !s.ok()) return s;
    version_ = (*session)->ask("SHOW server_version");
    default_isolation_ = (*session)->ask("SHOW default_transaction_isolation");
    return Ok{};
  }

  Result<std::unique_ptr<DriverSession>> connect() override {
    auto session = open();
    if (!session.ok()) return session.error();
    if (Status s = (*session)->prepare(); !s.ok()) return s.error();
    return std::unique_ptr<DriverSession>(std::move(*session));
  }

  std::string describe() const override {
    const std::string& isolation =
        options_.isolation == "default" ? default_isolation_ : options_.isolation;
    return fmt::format(R"({{"name":"PostgreSQL","version":"{}","isolation":"{}"}})", version_,
                       isolation);
  }

 private:
  Result<std::unique_ptr<PostgresqlSession>> open() {
    const std::string seconds =
        std::to_string(std::max<int64_t>(2, options_.timeout.count() / 1000));
    // dbname may be a whole URL; what follows it holds unless the URL says otherwise.
    const char* names[] = {"dbname", "connect_timeout", "application_name", nullptr};
    const char* values[] = {options_.url.c_str(), seconds.c_str(), "assay", nullptr};
    Connection connection(PQconnectdbParams(names, values, 1));
    if (PQstatus(connection.get()) != CONNECTION_OK)
      return io_error("PostgreSQL: " + one_line(PQerrorMessage(connection.get())));
    PQsetnonblocking(connection.get(), 1);
    PQsetNoticeProcessor(
        connection.get(), [](void*, const char*) {}, nullptr);
    const bool named = options_.isolation != "default";
    return std::make_unique<PostgresqlSession>(
        std::move(connection), named ? "BEGIN ISOLATION LEVEL " + options_.isolation : "BEGIN",
        options_.timeout);
  }

  DriverOptions options_;
  std::string version_;
  std::string default_isolation_;
};

Result<std::unique_ptr<Driver>> open_postgresql(const DriverOptions& options) {
  return std::unique_ptr<Driver>(std::make_unique<PostgresqlDriver>(options));
}

}  // namespace

const DriverInfo kPostgresql = {"postgresql",
                                "PostgreSQL and others that speak its protocol",
                                "postgresql://USER@HOST:PORT/DATABASE",
                                kIsolations,
                                open_postgresql,
                                "postgres"};

}  // namespace assay::collect
#endif
