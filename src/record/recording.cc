#include "record/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "collect/drivers/description.h"
#include "collect/run_id.h"
#include "collect/schedule/observing.h"
#include "collect/url.h"
#include "evidence/postgresql_slot.h"
#include "evidence/test_decoding.h"
#include "record/catalogue.h"
#include "record/relay.h"
#include "record/rewriting.h"
#include "record/trace.h"

namespace assay::internal::record {
namespace {

using evidence::PostgresqlSlot;

constexpr int kOldestVersion = 13;
// How often the log is read meanwhile: the part that was read is safe when this program is killed,
// and the server need not keep it.
constexpr auto kLogRead = std::chrono::milliseconds(250);
// A row that is longer is left out: readers of lines do not take any length.
constexpr size_t kMostLogged = 4 << 20;
constexpr auto kLogTick = std::chrono::milliseconds(10);

class Recorder : public Recording {
 public:
  explicit Recorder(RecordingOptions options, int fd)
      : options_(std::move(options)),
        fd_(fd),
        trace_(fd, options_.no_values ? std::optional(Veil::drawn()) : std::nullopt) {}
  ~Recorder() override {
    relay_.reset();
    close(fd_);
  }

  Status begin() {
    auto control = PostgresqlSlot::open({options_.database, "", false});
    if (!control.ok()) return control.error();
    control_ = std::move(*control);
    auto slot = PostgresqlSlot::open(
        {options_.database, fmt::format("assay_{}", collect::run_id_text(collect::draw_run_id())),
         false});
    if (!slot.ok()) return slot.error();
    slot_ = std::move(*slot);
    const auto version = control_->ask(
        "SELECT split_part(version(), ' ', 2), current_setting('server_version_num'), "
        "current_setting('default_transaction_isolation'), current_setting('wal_level'), "
        "session_user");
    if (!version.ok()) return version.error();
    if (std::stoi((*version)[0][1]) / 10'000 < kOldestVersion)
      return usage_error(fmt::format("this is PostgreSQL {}; recording needs {} or newer",
                                     (*version)[0][0], kOldestVersion));
    if ((*version)[0][3] != "logical")
      return usage_error(
          fmt::format("PostgreSQL runs with wal_level = {}; recording needs ALTER SYSTEM SET "
                      "wal_level = logical "
                      "and a restart of the server",
                      (*version)[0][3]));
    user_ = (*version)[0][4];
    const int64_t at = now();
    // The transactions of its marks must be in the log at once.
    if (const auto set = slot_->ask("SET synchronous_commit = on"); !set.ok()) return set.error();
    if (Status s = slot_->start(); !s.ok()) return s;
    if (Status s = find_commit_records(); !s.ok()) return s;
    const auto bound =
        control_->ask("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint & 4294967295");
    if (!bound.ok()) return bound.error();
    Json line = Json::object();
    line["trace"] = 1;
    line["at"] = at;
    line["bound"] = std::stoll((*bound)[0][0]);
    Json meta = Json::object();
    meta["tool"] = "assay record";
    if (!options_.test.empty()) meta["test"] = options_.test;
    meta["database"] = Json::parse(
        collect::describe_database("PostgreSQL", (*version)[0][0], (*version)[0][2], {}));
    line["meta"] = std::move(meta);
    trace_.write(line);
    if (Status s = read_catalogue(); !s.ok()) return s;
    if (Status s = read_first_rows(); !s.ok()) return s;
    return listen();
  }

  std::string url() const override {
    const std::string& at = relay_->address();
    return at.starts_with("unix:") ? at
                                   : fmt::format("postgresql://{}/{}", at, control_->database());
  }
  std::vector<std::pair<std::string, std::string>> environment() const override {
    // A socket that clients find is called FOLDER/.s.PGSQL.PORT.
    std::string at = relay_->address();
    if (at.starts_with("unix:"))
      if (const size_t name = at.rfind("/.s.PGSQL."); name != std::string::npos)
        at = at.substr(5, name - 5) + ":" + at.substr(name + 10);
    const size_t colon = at.rfind(':');
    return {{"PGHOST", at.substr(0, colon)},
            {"PGPORT", at.substr(colon + 1)},
            {"PGDATABASE", control_->database()},
            {"PGUSER", user_},
            {"PGSSLMODE", "disable"},
            {"PGCHANNELBINDING", "disable"}};
  }
  uint64_t connections() const override { return relay_->connections(); }

  Status run(const std::atomic<bool>& stop) override {
    std::atomic<bool> over = false;
    Status logged = Ok{};
    std::thread reader([&] {
      auto next = std::chrono::steady_clock::now() + kLogRead;
      while (!over && logged.ok()) {
        std::this_thread::sleep_for(kLogTick);
        if (std::chrono::steady_clock::now() < next) continue;
        logged = note_point(false);
        next = std::chrono::steady_clock::now() + kLogRead;
      }
    });
    Status relayed = relay_->run(stop, [this] { notice_definitions(); });
    over = true;
    reader.join();
    if (!relayed.ok()) return relayed;
    if (!logged.ok()) return logged;
    return end();
  }

 private:
  static int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  Status listen() {
    around_.trace = &trace_;
    around_.database = control_->database();
    around_.now = now;
    around_.rewriter = [this](const std::string& user) -> Rewriter& { return rewriter(user); };
    around_.definitions_changed = [this] { notice_definitions(); };
    auto encryption = encrypt();
    if (!encryption.ok()) return encryption.error();
    around_.encrypts = encryption->to_clients != nullptr;
    auto relay = Relay::open(options_.listen, {control_->host(), control_->port()},
                             std::move(*encryption), around_);
    if (!relay.ok()) return relay.error();
    relay_ = std::move(*relay);
    return trace_.flush();
  }

  // To the server as our own connection was encrypted, with the same certificates believed.
  Result<Relay::Encryption> encrypt() const {
    Relay::Encryption made;
    auto to_clients = Tls::server(options_.tls_certificate, options_.tls_key);
    if (to_clients.ok())
      made.to_clients = std::move(*to_clients);
    else if (!options_.tls_certificate.empty())
      return to_clients.error();
    if (!control_->encrypted()) return made;
    const std::string mode = control_->setting("sslmode");
    Tls::Trust trust{.host = control_->host(),
                     .authorities = control_->setting("sslrootcert"),
                     .certificate = control_->setting("sslcert"),
                     .key = control_->setting("sslkey")};
    // Where that file is, libpq looks at the certificate whatever the mode.
    if (const char* const home = getenv("HOME"); trust.authorities.empty() && home != nullptr)
      trust.authorities = fmt::format("{}/.postgresql/root.crt", home);
    trust.named = mode == "verify-full";
    trust.verified = mode.starts_with("verify-") || access(trust.authorities.c_str(), F_OK) == 0;
    auto to_server = Tls::client(trust);
    if (!to_server.ok()) return to_server.error();
    made.to_server = std::move(*to_server);
    return made;
  }

  // Others may change them, too.
  void notice_definitions() {
    const auto state = Catalogue::state(*control_);
    if (state.ok() && *state == state_) return;
    rewriters_.clear();
    if (read_catalogue().ok()) return;
    catalogue_ = std::make_shared<Catalogue>();  // nothing is rewritten
    state_.clear();
  }

  Rewriter& rewriter(const std::string& user) {
    const auto at = rewriters_.find(user);
    if (at != rewriters_.end()) return at->second;
    auto readable = Catalogue::readable(*control_, user);
    return rewriters_
        .emplace(user,
                 Rewriter(catalogue_, readable.ok() ? std::move(*readable) : std::set<uint32_t>()))
        .first->second;
  }

  Status read_catalogue() {
    const auto state = Catalogue::state(*control_);
    auto read = Catalogue::read(*control_);
    if (!read.ok()) return read.error();
    state_ = state.ok() ? *state : "";
    catalogue_ = std::make_shared<Catalogue>(std::move(*read));
    for (const Relation& r : catalogue_->relations()) {
      if (!r.refusal.empty()) continue;
      Json line = Json::object();
      line["table"] = r.name;
      line["oid"] = r.oid;
      line["logged"] = r.logged;
      line["key"] = r.key;
      line["file"] = r.file;
      trace_.write(line);
    }
    return Ok{};
  }

  // What rows hold before anybody changes them, for explanations: of small tables.
  Status read_first_rows() {
    uint64_t left = options_.first_rows;
    for (const Relation& r : catalogue_->relations()) {
      if (!r.refusal.empty() || left == 0) continue;
      std::string key;
      for (const std::string& column : r.key)
        key += fmt::format("{}t.{}::text", key.empty() ? "" : ", ",
                           collect::schedule::in_quotes(column, '"'));
      const auto rows = control_->ask(fmt::format(
          "SELECT json_build_object('row', {}::text, 'key', json_build_array({}), 'xmin', "
          "t.xmin::text::bigint, 'is', to_json(t.*)) FROM ONLY {} t LIMIT {}",
          collect::schedule::in_quotes(r.name, '\''), key, r.logged, left + 1));
      if (!rows.ok() || rows->size() > left) continue;  // it may not be read, or is too large
      left -= rows->size();
      for (const auto& row : *rows) {
        if (row[0].size() > kMostLogged) continue;
        Json line = Json::parse(row[0]);
        line["key"] = trace_.veiled(line["key"]);
        line["is"] = trace_.veiled(line["is"]);
        trace_.write(line);
      }
    }
    return Ok{};
  }

  // Reads the unread part of the log at least up to the mark; returns whether the mark came.
  Result<bool> read_log(const std::string& mark) {
    bool found = mark.empty();
    const Status read = slot_->read([&](std::string_view, std::string_view line) {
      const auto message = evidence::logged_message(line);
      const bool marks = message && *message == mark;
      if (message && !marks) return !found;
      found = found || marks;
      Json json = Json::object();
      if (marks)
        json["marked"] = true;
      else if (const auto row = evidence::logged_row(line); row && line.size() > kMostLogged)
        json["lost"] = row->table;
      else
        json["log"] = trace_.veiled_log(line);
      trace_.write(json);
      return !found;
    });
    if (!read.ok()) return read.error();
    return found;
  }

  // The extension pg_walinspect has what the slot does not: a transaction's savepoints, and blocks
  // with EXCEPTION, write under numbers of their own, which its commit lists.
  Status find_commit_records() {
    const auto found = control_->ask(
        "SELECT p.oid::regproc, pg_current_wal_insert_lsn() FROM pg_proc p WHERE p.proname = "
        "'pg_get_wal_records_info' AND has_function_privilege(p.oid, "
        "'EXECUTE')");
    if (!found.ok()) return found.error();
    if (found->empty()) return Ok{};
    records_ = (*found)[0][0];
    records_from_ = (*found)[0][1];
    return Ok{};
  }

  // Of what was committed before the mark, which names its place.
  void read_commit_records(const std::string& mark) {
    const std::string to = mark.substr(mark.rfind(' ') + 1);
    if (records_.empty() || to == records_from_) return;
    const auto commits = slot_->ask(fmt::format(
        "SELECT xid, substring(description FROM 'subxacts:((?: \\d+)+)') FROM {}('{}', '{}') WHERE "
        "resource_manager = 'Transaction' AND record_type LIKE 'COMMIT%' AND description LIKE "
        "'%subxacts:%'",
        records_, records_from_, to));
    records_from_ = to;
    if (!commits.ok()) return;  // these numbers stay unknown
    for (const auto& commit : *commits)
      trace_.write_text(fmt::format(R"({{"xid":{},"below":"{}"}})", commit[0], commit[1]));
  }

  // Notes how far the log was read, and which of its transactions are visible. Without the mark,
  // the times of the commits are not known.
  Status note_point(bool last) {
    if (!last && trace_.written() == noted_) {  // but whatever others do must not pile up there
      const auto read = read_log("");
      return read.ok() ? Status(Ok{}) : Status(read.error());
    }
    const int64_t at = now();
    const auto mark = slot_->mark();
    if (!mark.ok()) return mark.error();
    const auto found = read_log(*mark);
    if (!found.ok() || !*found) return found.ok() ? Status(Ok{}) : Status(found.error());
    read_commit_records(*mark);
    const auto snapshot = slot_->ask("SELECT pg_current_snapshot()::text");
    if (!snapshot.ok()) return snapshot.error();
    Json line = Json::object();
    line["logged"] = at;
    line["seen"] = now();
    line["snapshot"] = (*snapshot)[0][0];
    trace_.write(line);
    trace_.logged(at);
    noted_ = trace_.written();
    if (!last) return Ok{};
    trace_.answered(now(), now());  // no client is left
    Json end = Json::object();
    end["end"] = at;
    trace_.write(end);
    return Ok{};
  }

  Status end() {
    if (Status s = note_point(true); !s.ok()) return s;
    return trace_.flush();
  }

  RecordingOptions options_;
  int fd_;
  Trace trace_;
  uint64_t noted_ = 0;  // lines, at the last point
  std::unique_ptr<PostgresqlSlot> control_, slot_;
  std::string records_, records_from_;  // the function, and the place in the log
  std::shared_ptr<const Catalogue> catalogue_;
  std::string state_;  // of it
  std::string user_;
  std::map<std::string, Rewriter> rewriters_;  // by user
  Surroundings around_;
  std::unique_ptr<Relay> relay_;
};

}  // namespace

Result<std::unique_ptr<Recording>> Recording::open(const RecordingOptions& options) {
  if (!Rewriter::is_possible())
    return usage_error(
        "this assay was built without libpg_query, PostgreSQL's parser (Debian: libpg-query-dev)");
  const int fd = ::open(options.trace.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return io_error(strerror(errno), options.trace);
  auto recorder = std::make_unique<Recorder>(options, fd);
  if (Status s = recorder->begin(); !s.ok()) {
    ::unlink(options.trace.c_str());  // nothing was seen
    return s.error();
  }
  return std::unique_ptr<Recording>(std::move(recorder));
}

}  // namespace assay::internal::record
