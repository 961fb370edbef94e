#include "collect/run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/json.h"
#include "collect/client.h"
#include "collect/driver.h"
#include "collect/run_id.h"
#include "collect/run_meta.h"
#include "collect/sql/workload.h"
#include "collect/supported.h"
#include "collect/url.h"

namespace assay::internal::collect {
namespace {

constexpr uint32_t kMaxSessions = 10'000;
constexpr auto kProgressInterval = std::chrono::milliseconds(100);
// A run in which nothing commits for this long is abandoned.
constexpr double kPatience = 60;

// Shared by the threads of a run.
struct Shared {
  std::atomic<uint64_t> committed{0};
  std::atomic<uint64_t> aborted{0};
  std::atomic<uint64_t> unknown{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  uint32_t running = 0;
  std::optional<Error> error;  // the first error

  void fail(const Error& e) {
    const std::lock_guard lock(mutex);
    if (!error) error = e;
    stop = true;
  }
  void count(TxnStatus status) {
    committed += status == TxnStatus::committed;
    aborted += status == TxnStatus::aborted;
    unknown += status == TxnStatus::unknown;
  }
};

class Run {
 public:
  explicit Run(const RunOptions& options) : options_(options) {}
  Result<RunStats> operator()();

 private:
  Status prepare();
  Status open_recorder();
  Status open_parts(const RecorderOptions& recording);
  Status open_drivers();
  Status open_drivers_at(const std::string& isolation, const std::vector<std::string>& urls);
  Driver& driver_of(uint32_t session);
  Status open_proxies(std::vector<std::string>& urls);
  Status open_log();
  Status write_orders(RunStats& stats);
  void decide_turns();
  Status connect_clients();
  Status fill();
  void drive();
  void give_up_from(uint32_t session, const std::system_error& why);
  void drive_session(uint32_t session);
  void watch();
  double driven() const { return clock_.seconds() - drive_begin_; }
  double fraction() const;
  Status final_reads();
  Error why_it_ended(const Error& error) const;
  void look_for_an_unfinished_run();
  Status note_log();
  Status note_end(uint32_t session);
  Status look_for_another_run();
  void mark_finished();
  RunStats stats() const;

  const RunOptions& options_;
  uint64_t id_ = draw_run_id();
  RunMark other_;  // an unfinished run that had prepared the database before
  std::string history_;
  std::unique_ptr<Workload> workload_;
  size_t endpoints_ = 0;
  std::vector<std::unique_ptr<Driver>> drivers_;  // one per endpoint, for each isolation
  std::unique_ptr<Sink> recorder_;
  RunClock clock_;
  std::unique_ptr<Turns> turns_;             // null if sessions run at the same time
  std::unique_ptr<FaultInjector> injector_;  // null without faults
  std::unique_ptr<VersionLog> log_;          // null if no log is read
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<uint64_t> committed_by_session_;
  Shared shared_;
  double drive_begin_ = 0;  // on the clock; what comes before may take long
  double seconds_ = 0;
  bool stopped_early_ = false;
  bool final_reads_aborted_ = false;
};

Status check(const RunOptions& o) {
  if (o.sessions == 0 || o.sessions > kMaxSessions)
    return usage_error(
        fmt::format("the number of sessions must be between 1 and {}", kMaxSessions));
  if (o.txns == 0 && !(o.seconds > 0) && !o.endless)
    return usage_error("a run needs a limit: a number of transactions or a duration");
  if (o.timeout.count() <= 0) return usage_error("the statement time-out must be above 0");
  if (!o.faults.kinds.empty() && !(o.faults.interval > 0))
    return usage_error("the time between faults must be above 0");
  if (o.workload_options.own_writes && o.workload_options.keys <= o.sessions)
    return usage_error("own-writes assigns keys to sessions; expected more keys than sessions");
  if (o.mix.size() > o.sessions)
    return usage_error(fmt::format("{} isolations need as many sessions", o.mix.size()));
  for (const FaultKind kind : o.faults.kinds)
    if (needs_node(kind) && o.faults.node_command.empty())
      return usage_error(
          fmt::format("the fault '{}' needs a command that acts on nodes, such as "
                      "'dev/db node mariadb'",
                      fault_name(kind)));
  return Ok{};
}

}  // namespace

Result<std::vector<MixedIsolation>> parse_mix(std::string_view text) {
  std::vector<MixedIsolation> mix;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    at = end + 1;
    const size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const std::string_view level =
        equals == std::string_view::npos ? name : part.substr(equals + 1);
    const auto known = find_level(level);
    if (!known || !mixable(*known))
      return usage_error(fmt::format(
          "'{}' is not the name of a level that can be mixed with others; expected ISOLATION or "
          "ISOLATION=LEVEL, with one of read-committed, read-atomic, causal, prefix, session-si, "
          "serializable",
          level));
    mix.push_back({std::string(name), *known});
  }
  return mix;
}

std::string text_of(const std::vector<MixedIsolation>& mix) {
  std::string text;
  for (const MixedIsolation& one : mix)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", one.name, level_info(one.level).name);
  return text;
}

namespace {

// Puts a proxy in front of each endpoint, if there are faults that need one.
Status Run::open_proxies(std::vector<std::string>& urls) {
  const auto& kinds = options_.faults.kinds;
  if (kinds.empty()) return Ok{};
  std::vector<std::unique_ptr<Proxy>> proxies;
  if (!std::all_of(kinds.begin(), kinds.end(), needs_node))
    for (std::string& url : urls) {
      const Result<Url> parsed = Url::parse(url);
      if (!parsed.ok()) return parsed.error();
      if (parsed->port == 0)
        return usage_error("partition and delay need the port in the URL '" + redacted(url) + "'");
      auto proxy = Proxy::start(parsed->host, parsed->port);
      if (!proxy.ok()) return proxy.error();
      url = *with_endpoint(url, "127.0.0.1", (*proxy)->port());
      proxies.push_back(std::move(*proxy));
    }
  injector_ = std::make_unique<FaultInjector>(options_.faults, static_cast<uint32_t>(urls.size()),
                                              options_.seed, std::move(proxies));
  return Ok{};
}

// assay-history-TIME-RUN.jsonl
std::string history_name(uint64_t run) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("assay-history-{:%Y%m%d-%H%M%S}-{}.jsonl", utc, run_id_text(run));
}

// Done before anything is done to the database: an existing history must not be lost, nor a run for
// want of a file.
Status Run::open_recorder() {
  if (!options_.record) {
    recorder_ = std::make_unique<NoSink>();
    return Ok{};
  }
  RecorderOptions recording = options_.recorder;
  recording.facts = {.names_versions = options_.open_log != nullptr,
                     .absent_is_never_written = options_.workload_options.tombstones,
                     .has_rows = workload_->has_rows(),
                     .has_conditions = workload_->selects(),
                     .has_aggregates = workload_->aggregates()};
  if (options_.part_bytes > 0 || options_.parts != nullptr) return open_parts(recording);
  auto recorder =
      options_.history.empty()
          ? Recorder::create_fresh([&] { return history_name(id_ = draw_run_id()); }, recording)
          : Recorder::create(options_.history, recording);
  if (!recorder.ok()) return recorder.error();
  history_ = (*recorder)->path();
  recorder_ = std::move(*recorder);
  return Ok{};
}

// The name of a new history contains the number of the run, so it is free.
Status Run::open_parts(const RecorderOptions& recording) {
  const std::string path = options_.history.empty() ? history_name(id_) : options_.history;
  auto recorder = PartsRecorder::create(path, recording, options_.part_bytes, options_.parts);
  if (!recorder.ok()) return recorder.error();
  history_ = (*recorder)->path();
  recorder_ = std::move(*recorder);
  return Ok{};
}

Status Run::open_drivers() {
  std::vector<std::string> urls = options_.databases;
  if (urls.empty()) urls.push_back("sqlite:");
  if (Status s = open_proxies(urls); !s.ok()) return s;
  endpoints_ = urls.size();
  for (size_t i = 0; i < options_.mix.size(); ++i)
    if (Status s = open_drivers_at(options_.mix[i].name, urls); !s.ok()) return s;
  return options_.mix.empty() ? open_drivers_at(options_.isolation, urls) : Status(Ok{});
}

Status Run::open_drivers_at(const std::string& isolation, const std::vector<std::string>& urls) {
  for (size_t i = 0; i < urls.size(); ++i) {
    std::string url = urls[i];
    if (url.starts_with("simulated:") && !options_.mix.empty())
      return usage_error(
          "sessions of the simulated database have one level; expected assay generate with "
          "several");
    // An embedded database was created by the first driver.
    if (url == "sqlite:" && !drivers_.empty()) url = drivers_[i]->address();
    Result<std::unique_ptr<Driver>> driver = open_driver({.url = url,
                                                          .isolation = isolation,
                                                          .timeout = options_.timeout,
                                                          .seed = options_.seed,
                                                          .tables = workload_->tables(),
                                                          .run = id_,
                                                          .named = options_.open_log != nullptr});
    if (!driver.ok()) return driver.error();
    if (Status s = can_run(**driver, *workload_, options_.workload, !options_.sql.empty()); !s.ok())
      return s;
    drivers_.push_back(std::move(*driver));
  }
  return Ok{};
}

// Done before anything is done to a database that keeps no log.
Status Run::open_log() {
  if (!options_.open_log) return Ok{};
  VersionLogOptions o;
  o.tables = workload_->tables();
  o.row_tables = workload_->row_tables();
  o.run = id_;
  o.values_repeat = options_.workload_options.values > 0;
  for (size_t i = 0; i < endpoints_; ++i) {
    const std::string address = drivers_[i]->address();
    o.urls.push_back(address.empty() ? options_.databases[i] : address);  // goes past any proxy
  }
  for (const FaultKind kind : options_.faults.kinds)
    o.outlives_server = o.outlives_server || kind == FaultKind::kill || kind == FaultKind::restart;
  auto log = options_.open_log(o);
  if (!log.ok()) return log.error();
  log_ = std::move(*log);
  return Ok{};
}

// Each endpoint gets sessions of every isolation, if there are enough.
Driver& Run::driver_of(uint32_t session) {
  const size_t isolation = options_.mix.empty() ? 0 : session % options_.mix.size();
  const size_t endpoint = session / std::max<size_t>(options_.mix.size(), 1) % endpoints_;
  return *drivers_[isolation * endpoints_ + endpoint];
}

void Run::decide_turns() {
  if (!std::all_of(drivers_.begin(), drivers_.end(),
                   [](const auto& d) { return d->takes_turns(); }))
    return;
  turns_ = std::make_unique<Turns>(options_.seed);
  clock_.follow(turns_.get());
}

Status Run::connect_clients() {
  for (uint32_t i = 0; i < options_.sessions; ++i) {
    clients_.push_back(std::make_unique<Client>(
        i, driver_of(i), workload_->open(i, options_.sessions, options_.seed), *recorder_, clock_,
        options_.seed, options_.reconnect_for));
    if (!options_.mix.empty())
      clients_.back()->declare(options_.mix[i % options_.mix.size()].level);
    clients_.back()->look_inside(log_.get());
    clients_.back()->take_turns(turns_.get());
    if (options_.time_operations) clients_.back()->time_operations();
    if (Status s = clients_.back()->connect(); !s.ok()) return s;
  }
  committed_by_session_.resize(options_.sessions);
  return Ok{};
}

Status Run::prepare() {
  if (Status s = check(options_); !s.ok()) return s;
  auto workload = options_.sql.empty() ? make_workload(options_.workload, options_.workload_options)
                                       : sql::make_workload(options_.sql);
  if (!workload.ok()) return workload.error();
  workload_ = std::move(*workload);
  if (Status s = open_recorder(); !s.ok()) return s;
  if (Status s = open_drivers(); !s.ok()) return s;
  decide_turns();
  if (Status s = open_log(); !s.ok()) return s;
  look_for_an_unfinished_run();
  if (Status s = drivers_.front()->prepare(); !s.ok()) return s;
  if (Status s = workload_->set_up(*drivers_.front()); !s.ok()) return s;
  if (log_)
    if (Status s = log_->start(); !s.ok()) return s;
  if (Status s = connect_clients(); !s.ok()) return s;
  if (Status s =
          recorder_->header(run_meta(options_, id_, clock_, drivers_.front()->describe(), other_));
      !s.ok())
    return s;
  if (Status s = note_log(); !s.ok()) return s;
  for (const auto& client : clients_)
    if (Status s = client->note_connection(); !s.ok()) return s;
  if (options_.record && options_.recording) options_.recording(history_);
  return fill();
}

// The initial values are written by a separate session, and each session reads them first: then
// levels without time, but with session order, know that they were there before.
Status Run::fill() {
  const std::vector<Request> writes = workload_->first_writes();
  if (writes.empty()) return Ok{};
  const auto must = [](const Result<bool>& done) {
    if (!done.ok()) return Status(done.error());
    return *done ? Status(Ok{}) : Status(io_error("the first rows were aborted repeatedly"));
  };
  Client filler(options_.sessions, *drivers_.front(), nullptr, *recorder_, clock_, options_.seed,
                options_.reconnect_for);
  if (!options_.mix.empty()) filler.declare(options_.mix[0].level);
  filler.look_inside(log_.get());
  if (Status s = must(filler.do_all(writes)); !s.ok()) return s;
  if (Status s = note_end(options_.sessions); !s.ok()) return s;
  Rng rng = Rng(options_.seed).split(options_.sessions);
  const std::vector<Request> reads = workload_->final_reads(options_.final_read_keys, rng);
  for (const auto& client : clients_)
    if (Status s = must(client->do_all(reads)); !s.ok()) return s;
  return Ok{};
}

// Notes the session's end, so readers of the growing history need not wait for it.
Status Run::note_end(uint32_t session) {
  if (options_.parts == nullptr) return Ok{};
  const int64_t now = clock_.now();
  return recorder_->event(now,
                          fmt::format(R"({{"event":"end","at":{},"session":{}}})", now, session));
}

// Notes the position in the database's log, for a reader of the log after this run was killed.
Status Run::note_log() {
  const std::string begins = log_ ? log_->begins() : "";
  if (begins.empty()) return Ok{};
  const int64_t now = clock_.now();
  const Json event = {{"event", "log"}, {"at", now}, {"begins", begins}};
  return recorder_->event(now, event.dump());
}

void Run::drive_session(uint32_t session) {
  Client& client = *clients_[session];
  uint64_t& committed = committed_by_session_[session];
  if (turns_) turns_->enter(session);
  while (!shared_.stop && (options_.txns == 0 || committed < options_.txns)) {
    const Result<TxnStatus> status = client.attempt();
    if (!status.ok()) {
      shared_.fail(status.error());
      break;
    }
    shared_.count(*status);
    committed += *status == TxnStatus::committed;
    if (*status == TxnStatus::aborted) client.back_off();
  }
  if (turns_) turns_->leave(session);
  const std::lock_guard lock(shared_.mutex);
  --shared_.running;
  shared_.changed.notify_all();
}

double Run::fraction() const {
  double done = 0;
  if (options_.txns > 0)
    done = static_cast<double>(shared_.committed) /
           (static_cast<double>(options_.txns) * options_.sessions);
  if (options_.seconds > 0) done = std::max(done, driven() / options_.seconds);
  return std::min(done, 1.0);
}

// Watches until every session is done: reports progress, and finds reasons to stop.
void Run::watch() {
  uint64_t committed = 0;
  double last_commit = driven();
  std::unique_lock lock(shared_.mutex);
  while (!shared_.changed.wait_for(lock, kProgressInterval, [&] { return shared_.running == 0; })) {
    lock.unlock();
    const double now = driven();
    if (const uint64_t seen = shared_.committed; seen != committed) {
      committed = seen;
      last_commit = now;
    }
    if (options_.stop != nullptr && *options_.stop && !shared_.stop) {
      stopped_early_ = true;
      shared_.stop = true;
    }
    if (options_.seconds > 0 && now >= options_.seconds) shared_.stop = true;
    // Sessions that are only being waited for need not commit any more.
    if (!shared_.stop && now - last_commit > kPatience)
      shared_.fail(io_error(fmt::format("no transaction has committed for {:.0f} s", kPatience)));
    if (options_.progress)
      options_.progress({shared_.committed, shared_.aborted, shared_.unknown, now, fraction()});
    lock.lock();
  }
}

// Ends the run, as the system has no thread for this session and those after it.
void Run::give_up_from(uint32_t session, const std::system_error& why) {
  shared_.fail(io_error(fmt::format("cannot start session {} of {}: {}", session + 1,
                                    options_.sessions, why.code().message())));
  const std::lock_guard lock(shared_.mutex);
  shared_.running -= options_.sessions - session;
  shared_.changed.notify_all();
}

void Run::drive() {
  drive_begin_ = clock_.seconds();
  shared_.running = options_.sessions;
  if (turns_) turns_->expect(options_.sessions);
  std::vector<std::thread> threads;
  threads.reserve(options_.sessions);
  try {
    for (uint32_t i = 0; i < options_.sessions; ++i)
      threads.emplace_back([this, i] { drive_session(i); });
  } catch (const std::system_error& why) {
    give_up_from(static_cast<uint32_t>(threads.size()), why);
  }
  if (turns_) turns_->begin(static_cast<uint32_t>(threads.size()));
  if (injector_) injector_->start(*recorder_, clock_);
  watch();
  for (std::thread& thread : threads) thread.join();
  if (injector_)
    if (Status s = injector_->stop(); !s.ok()) shared_.fail(s.error());
  seconds_ = driven();
}

Status Run::final_reads() {
  if (options_.final_read_keys == 0 || !options_.record || stopped_early_) return Ok{};
  Rng rng = Rng(options_.seed).split(options_.sessions);
  const std::vector<Request> reads = workload_->final_reads(options_.final_read_keys, rng);
  if (reads.empty()) return Ok{};
  for (auto& client : clients_) {
    const Result<bool> done = client->do_all(reads);
    if (!done.ok()) return done.error();
    // If the first session cannot read a value, the others need not try.
    if (!*done) {
      final_reads_aborted_ = true;
      break;
    }
  }
  return Ok{};
}

// Sessions that can no longer connect report this one by one; what matters is where the database
// was lost first.
Error Run::why_it_ended(const Error& error) const {
  const Client::Loss* first = nullptr;
  for (const auto& client : clients_)
    if (const auto& loss = client->loss(); loss && (first == nullptr || loss->at < first->at))
      first = &*loss;
  if (first == nullptr) return error;
  return io_error(
      fmt::format("the connection to the database was lost after {:.1f} s, first by {}; then: {}",
                  static_cast<double>(first->at) / 1e9, first->where, error.to_string()));
}

// Warns of an unfinished run. One that is still going on writes into our tables, until it notices
// that they are no longer its own. One that was killed leaves the same mark, so this is no reason
// to refuse.
void Run::look_for_an_unfinished_run() {
  Result<RunMark> found = drivers_.front()->prepared_by();
  if (!found.ok() || found->run == 0 || found->finished)
    return;  // also if nothing was ever prepared
  other_ = std::move(*found);
  if (!options_.warning) return;
  options_.warning(fmt::format(
      "run {}{} prepared this database and has not finished: if it is still running, this run may "
      "read its writes",
      run_id_text(other_.run), other_.began.empty() ? "" : ", begun " + other_.began + ","));
}

// Does not change the mark of another run that has prepared the database since. If this fails, the
// next run gives a needless warning.
void Run::mark_finished() {
  const Result<RunMark> found = drivers_.front()->prepared_by();
  if (found.ok() && found->run == id_) static_cast<void>(drivers_.front()->mark_finished());
}

// Fails if another run has prepared the database: what it writes into our tables, or removes from
// them, looks like a fault of the database.
Status Run::look_for_another_run() {
  const auto is_another = [&](const Result<RunMark>& mark) {
    return mark.ok() && mark->run != 0 && mark->run != id_;
  };
  // Another run that is just creating its tables has removed ours, which makes our statements fail;
  // its name comes later, and for a moment there is none.
  const std::chrono::duration<double> patience = options_.look_for_another;
  const double until = clock_.seconds() + (shared_.error ? patience.count() : 0);
  Result<RunMark> found = drivers_.front()->prepared_by();
  while (!is_another(found) && clock_.seconds() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    found = drivers_.front()->prepared_by();
  }
  if (!is_another(found)) return Ok{};
  const int64_t now = clock_.now();
  const std::string other = run_id_text(found->run);
  Status noted =
      recorder_->event(now, fmt::format(R"({{"event":"overrun","at":{},"run":"{}"}})", now, other));
  if (!noted.ok()) return noted;
  return io_error(
      fmt::format("another run, {}, prepared the same database while this one, {}, was running{}",
                  other, run_id_text(id_), options_.record ? "; its history is meaningless" : ""));
}

// If the log no longer says something, that is not the run's fault; the history then says less.
Status Run::write_orders(RunStats& stats) {
  if (!log_) return Ok{};
  const double begin = clock_.seconds();
  auto report = log_->write(clock_.now(), *recorder_);
  if (!report.ok() && report.error().kind == ErrorKind::io && report.error().file == history_)
    return report.error();
  stats.log.emplace();
  if (report.ok())
    *stats.log = std::move(*report);
  else
    stats.log->missing = report.error().to_string();
  stats.log->seconds = clock_.seconds() - begin;
  return Ok{};
}

RunStats Run::stats() const {
  RunStats stats;
  stats.committed = shared_.committed;
  stats.aborted = shared_.aborted;
  stats.unknown = shared_.unknown;
  stats.seconds = seconds_;
  stats.stopped_early = stopped_early_;
  stats.committed_by_session = committed_by_session_;
  stats.driver = drivers_.front()->describe();
  stats.history = history_;
  Client::Failures failures;
  double waited = 0;
  for (const auto& client : clients_) {
    stats.operations += client->operations();
    waited += client->seconds_waited();
    for (const auto& [what, count] : client->failures()) failures[what] += count;
  }
  if (seconds_ > 0) stats.waited_share = std::min(1.0, waited / seconds_ / options_.sessions);
  for (const auto& [what, count] : failures)
    stats.failures.push_back({what.first, what.second, count});
  std::stable_sort(stats.failures.begin(), stats.failures.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  if (stats.failures.size() > 10) stats.failures.resize(10);
  return stats;
}

Result<RunStats> Run::operator()() {
  if (Status s = prepare(); !s.ok()) return s.error();
  drive();
  // Counted before the final reads, which are not part of the workload.
  RunStats result = stats();
  if (!shared_.error)
    if (Status s = final_reads(); !s.ok()) shared_.error = s.error();
  if (shared_.error) shared_.error = why_it_ended(*shared_.error);
  if (Status s = look_for_another_run(); !s.ok()) shared_.error = s.error();
  clients_.clear();
  if (!shared_.error)
    if (Status s = write_orders(result); !s.ok()) shared_.error = s.error();
  mark_finished();
  const Status finished = recorder_->finish();
  result.final_reads_aborted = final_reads_aborted_;
  if (shared_.error) return *shared_.error;
  if (!finished.ok()) return finished.error();
  return result;
}

}  // namespace

Result<RunStats> run(const RunOptions& options) {
  Result<RunStats> stats = Run(options)();
  if (!stats.ok()) stats.error().message = redacted(stats.error().message);
  return stats;
}

}  // namespace assay::internal::collect
