// The history of a killed run lacks the orders of the database's log, which is read at the end of a
// run. The log usually still exists, and this reads it afterwards.
//
//   history, killed: 3-17 committed, ended at 90; 5-2 pending      log: 3-17 x=1, 5-2 x=2, 4-9 x=3
//   appended:
//   {"key":"x","order":[{"txn":"3-17","value":1},{"txn":"5-2","value":2}]}
//   {"event":"complete","at":90}
//
// Two things differ from the end of a run. The clock of the history is gone: the orders are
// complete up to the last time in it, because every transaction acknowledged by then was committed
// before the log was read. The history may end before a transaction in the log, 4-9 here: it is
// skipped, since no line has its operations.
#include "evidence/recover.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <unordered_set>
#include <utility>

#include "assay/format.h"
#include "base/json.h"
#include "collect/driver.h"
#include "collect/sink.h"
#include "collect/sql/workload.h"
#include "collect/workload.h"
#include "evidence/log.h"
#include "formats/compression.h"

namespace assay::internal::evidence {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);
constexpr auto kPause = std::chrono::milliseconds(50);

// Also empty if it exists and is not a text.
std::string text_field(const Json& object, const char* name) {
  const Json value = object.is_object() ? object.value(name, Json()) : Json();
  return value.is_string() ? value.text() : std::string();
}

// Only the entries of the orders whose transactions are in the history.
class KnownOnly : public collect::Sink {
 public:
  KnownOnly(collect::Sink& to, const History& history) : to_(to) {
    for (TxnId t = 0; t < history.txn_count(); ++t) names_.insert(history.name(t));
  }
  Status header(std::string_view) override { return Ok{}; }
  Status transaction(const collect::TxnRecord&) override { return Ok{}; }
  Status event(int64_t at, std::string_view text) override {
    const Json event = Json::parse(text);
    const bool logged = text_field(event, "event") == "logged";
    if (logged && !names_.contains(text_field(event, "txn"))) return Ok{};
    return to_.event(at, text);
  }
  Status order(const collect::OrderRecord& record) override {
    collect::OrderRecord known{record.key, {}};
    for (const auto& entry : record.entries)
      if (names_.contains(entry.txn)) known.entries.push_back(entry);
    return known.entries.empty() ? Status(Ok{}) : to_.order(known);
  }
  Status finish() override { return to_.finish(); }

 private:
  collect::Sink& to_;
  std::unordered_set<std::string> names_;
};

// The file, locked, its last line whole.
class Appended {
 public:
  static Result<Appended> open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
    if (fd < 0) return io_error("cannot be written", path);
    Appended file(fd);
    // The system may still be cleaning up a process that was just killed.
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    int locked = flock(fd, LOCK_EX | LOCK_NB);
    while (locked != 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kPause);
      locked = flock(fd, LOCK_EX | LOCK_NB);
    }
    if (locked != 0) {
      Error e = usage_error("the run that records this history is still in progress");
      e.file = path;
      return e;
    }
    return file;
  }
  Appended(Appended&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Appended& operator=(Appended&&) = delete;
  ~Appended() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

  // A truncated line is useless and is removed; one that lacks only its end is completed.
  Status end_last_line(bool cut_off, const std::string& path) {
    off_t end = lseek(fd_, 0, SEEK_END);
    char last = '\n';
    if (end > 0 && pread(fd_, &last, 1, end - 1) != 1) return io_error("cannot be read", path);
    if (last == '\n') return Ok{};
    if (!cut_off)
      return ::write(fd_, "\n", 1) == 1 ? Status(Ok{}) : io_error("cannot be written", path);
    while (end > 0 && pread(fd_, &last, 1, end - 1) == 1 && last != '\n') --end;
    return ftruncate(fd_, end) == 0 ? Status(Ok{}) : io_error("cannot be written", path);
  }

 private:
  explicit Appended(int fd) : fd_(fd) {}
  int fd_;
};

// The last time in the history.
int64_t last_time(const History& history) {
  int64_t last = 0;
  for (TxnId t = 0; t < history.txn_count(); ++t)
    for (const Interval& time : {history.begin_time(t), history.end_time(t)})
      if (time.known() && time.response != Interval::kOpen) last = std::max(last, time.response);
  return last;
}

Result<Json> meta_of_run(const History& history, const std::string& path) {
  Json meta = Json::parse(history.meta());
  if (text_field(meta, "tool") != "assay run" || !meta.contains("run"))
    return Error{ErrorKind::bad_input, "expected a history of `assay run`", path, 1, 0};
  for (const Event& event : history.events()) {
    const Json said = Json::parse(event.json);
    const std::string name = text_field(said, "event");
    if (name == "complete" || name == "incomplete")
      return Error{ErrorKind::bad_input,
                   "the history already has the version orders of its run; expected one that ends "
                   "before them",
                   path, 0, 0};
  }
  return meta;
}

// Whether the database is still as this run left it.
Status check_run(const std::string& url, uint64_t run) {
  collect::DriverOptions options;
  options.url = url;
  const auto driver = collect::open_driver(options);
  if (!driver.ok()) return driver.error();
  const auto mark = (*driver)->prepared_by();
  if (!mark.ok()) return mark.error();
  if (mark->run != run)
    return usage_error(
        fmt::format("the database was prepared by run {}; expected {}, the run of the history",
                    collect::run_id_text(mark->run), collect::run_id_text(run)));
  return Ok{};
}

// The position of the log that the run noted; empty if there is none.
std::string where_the_log_stood(const History& history) {
  for (const Event& event : history.events()) {
    const Json said = Json::parse(event.json);
    if (text_field(said, "event") == "log") return text_field(said, "begins");
  }
  return "";
}

}  // namespace

Result<collect::VersionLogReport> recover_version_orders(const std::string& path,
                                                         const std::vector<std::string>& urls) {
  if (formats::compression_of_path(path) != formats::Compression::none)
    return usage_error("a compressed history cannot be appended to; expected an uncompressed one");
  Result<Appended> file = Appended::open(path);
  if (!file.ok()) return file.error();
  Result<ReadResult> read = read_history(path, {.from = "assay"});
  if (!read.ok()) return read.error();
  const History& history = read->history;
  const Result<Json> meta = meta_of_run(history, path);
  if (!meta.ok()) return meta.error();
  collect::VersionLogOptions options;
  options.urls = urls;
  options.run = collect::parse_run_id(text_field(*meta, "run"));
  options.values_repeat = meta->contains("values");
  const auto workload = meta->contains("sql")
                            ? collect::sql::make_workload(text_field(*meta, "sql"))
                            : collect::make_workload(text_field(*meta, "workload"), {});
  if (!workload.ok()) return workload.error();
  options.tables = (*workload)->tables();
  options.row_tables = (*workload)->row_tables();
  if (Status s = check_run(urls.front(), options.run); !s.ok()) return s.error();
  const auto log = open_version_log(options);
  if (!log.ok()) return log.error();
  if (Status s = (*log)->resume(where_the_log_stood(history)); !s.ok()) return s.error();
  if (Status s = file->end_last_line(!read->notes.empty(), path); !s.ok()) return s.error();
  collect::LineSink lines(file->fd());
  KnownOnly known(lines, history);
  auto report = (*log)->write(last_time(history), known);
  if (report.ok())
    if (Status s = known.finish(); !s.ok()) return s.error();
  return report;
}

}  // namespace assay::internal::evidence
