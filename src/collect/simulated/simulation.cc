#include "collect/simulated/simulation.h"

#include <algorithm>

namespace assay::internal::collect {
namespace {

// Mean nanoseconds between transactions at the start, and its bounds.
constexpr double kThink = 50'000;
constexpr double kThinkLongest = 1e9;
// Factors after a conflict and after a commit: they balance at about one conflict in twenty
// transactions.
constexpr double kBackOff = 1.1;
constexpr double kCatchUp = 0.995;
constexpr uint64_t kProgressEvery = 4096;

}  // namespace

Simulation::Simulation(const GenerateOptions& options, const Workload& workload, Sink& sink)
    : options_(options),
      workload_(workload),
      sink_(sink),
      rng_(options.seed),
      engine_(options.mix.empty()
                  ? Engine(options.level, options.bug, options.sessions, rng_.next())
                  : Engine(options.mix, options.sessions, rng_.next())),
      clock_(options.times, options.clock_error, options.time_jitter, options.sessions,
             rng_.split(0)),
      clients_(options.sessions),
      think_(kThink),
      planted_values_(options.sessions, options.sessions + 1, options.workload_options.values) {
  const uint64_t seed = rng_.next();
  for (uint32_t i = 0; i < options.sessions; ++i) {
    clients_[i].workload = workload.open(i, options.sessions + 1, seed);
    clients_[i].record.session = i;
    if (!options.mix.empty()) clients_[i].record.level = options.mix[i % options.mix.size()];
  }
}

Result<GenerateStats> Simulation::run() {
  for (uint32_t i = 0; i < clients_.size(); ++i) start_next(i, 0);
  uint64_t handled = 0;
  const double total = static_cast<double>(options_.txns) * options_.sessions;
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.at;
    if (Status s = handle(event); !s.ok()) return s.error();
    if (running_ == 0 && plant_due())
      if (Status s = plant(); !s.ok()) return s.error();
    if (options_.progress && ++handled % kProgressEvery == 0)
      options_.progress(static_cast<double>(stats_.committed) / total);
  }
  while (plants() && planted_ < options_.bug_count)
    if (Status s = plant(); !s.ok()) return s.error();
  for (uint32_t i = 0; i < clients_.size(); ++i) now_ = std::max(now_, clock_.answered(i));
  if (options_.version_order)
    if (Status s = log_.write(sink_, now_ + 1); !s.ok()) return s.error();
  return stats_;
}

// Starts the session's next transaction, unless it is done or has to wait for the planting.
void Simulation::start_next(uint32_t session, int64_t earliest) {
  Client& client = clients_[session];
  if (client.committed >= options_.txns) return;
  if (plant_due()) {
    parked_.push_back(session);
    return;
  }
  client.workload->start(client.retry);
  client.phase = Phase::begin;
  clock_.begin(session);
  ++running_;
  send(session, earliest + static_cast<int64_t>(rng_.exponential(think_)));
}

void Simulation::send(uint32_t session, int64_t earliest) {
  events_.push({clock_.send(session, earliest), session});
}

Status Simulation::handle(const Event& event) {
  switch (clients_[event.session].phase) {
    case Phase::begin:
      begin(event);
      return Ok{};
    case Phase::operation:
      operate(event);
      return Ok{};
    case Phase::commit:
      return commit(event);
  }
  return Ok{};
}

void Simulation::begin(const Event& event) {
  Client& client = clients_[event.session];
  engine_.begin(event.session);
  client.record.begin = clock_.answer(event.session, event.at);
  const bool more = client.workload->next(nullptr, client.next);
  client.phase = more ? Phase::operation : Phase::commit;
  send(event.session, 0);
}

void Simulation::operate(const Event& event) {
  Client& client = clients_[event.session];
  Step& step = client.record.steps.emplace_back();
  step.request = client.next;
  engine_.call(event.session, step.request, step.reply);
  clock_.answer(event.session, event.at);
  const bool more = client.workload->next(&step.reply, client.next);
  client.phase = more ? Phase::operation : Phase::commit;
  send(event.session, 0);
}

Status Simulation::commit(const Event& event) {
  const uint32_t session = event.session;
  Client& client = clients_[session];
  client.retry = false;
  const Interval answer = clock_.answer(session, event.at);
  client.record.end = answer;
  const double fate = rng_.unit();
  if (fate < options_.abort_share) {
    engine_.abort(session);
    return finish(session, TxnStatus::aborted);
  }
  if (fate < options_.abort_share + options_.unknown_share) {
    // The answer never arrives. Half of the time the request did not arrive either.
    client.record.end = {};
    if (rng_.chance(0.5))
      commit_in_engine(session);
    else
      engine_.abort(session);
    return finish(session, TxnStatus::unknown);
  }
  if (commit_in_engine(session)) {
    think_ = std::max(think_ * kCatchUp, kThink);
    ++client.committed;
    return finish(session, TxnStatus::committed);
  }
  if (!engine_.lags(session)) think_ = std::min(think_ * kBackOff, kThinkLongest);
  client.retry = true;
  return finish(session, TxnStatus::aborted);
}

// Returns false if the transaction conflicted.
bool Simulation::commit_in_engine(uint32_t session) {
  if (!engine_.commit(session)) return false;
  if (options_.timestamps) engine_.note_times(session, clients_[session].record);
  if (engine_.wrote(session)) log(clients_[session].record);
  return true;
}

Status Simulation::finish(uint32_t session, TxnStatus status) {
  Client& client = clients_[session];
  client.record.status = status;
  stats_.operations += client.record.steps.size();
  stats_.committed += status == TxnStatus::committed;
  stats_.aborted += status == TxnStatus::aborted;
  stats_.unknown += status == TxnStatus::unknown;
  Status written = sink_.transaction(client.record);
  client.record.steps.clear();
  client.record.start_ts = client.record.commit_ts = Interval::kUnknown;
  ++client.record.number;
  --running_;
  start_next(session, clock_.answered(session));
  return written;
}

// Whether it is time to plant a bug: its share of the transactions is done and every session has
// come to rest.
bool Simulation::plant_due() const {
  if (!plants() || planted_ >= options_.bug_count) return false;
  const uint64_t share = options_.txns * options_.sessions / (options_.bug_count + 1);
  return stats_.committed >= share * (planted_ + 1);
}

Status Simulation::plant() {
  ++planted_;
  const std::vector<Request> reads = workload_.usual_reads(2, rng_);
  for (uint32_t i = 0; i < clients_.size(); ++i) now_ = std::max(now_, clock_.answered(i));
  const bool in_log = options_.log_bug != LogBug::none;
  if (Status s = in_log ? plant_log_bug(reads) : plant_bug(reads); !s.ok()) return s;
  std::vector<uint32_t> waiting;
  waiting.swap(parked_);
  for (uint32_t session : waiting) start_next(session, now_);
  return Ok{};
}

// Reads of keys that nothing else writes: a query that did not find a row may come after the one
// that takes the row out of the condition.
std::vector<Request> Simulation::fresh_reads() const {
  const auto first = static_cast<int64_t>(options_.workload_options.keys) + 2 * planted_;
  return {{.kind = OpKind::read, .key = Value::of(first)},
          {.kind = OpKind::read, .key = Value::of(first + 1)}};
}

Status Simulation::plant_bug(std::vector<Request> reads) {
  Script script = find_script(options_.bug, options_.level, engine_.replica_count());
  if (workload_.writes_blindly()) script = blind(script, options_.bug);
  if (script.queries()) reads = fresh_reads();
  const auto finished = [this](TxnRecord& record) {
    if (record.status == TxnStatus::committed && engine_.wrote(record.session)) log(record);
    return write_planted(record);
  };
  if (options_.workload_options.values > 0 || workload_.uses(OpKind::remove) ||
      workload_.writes_blindly())
    if (Status s = play(ground_for(script), reads, finished); !s.ok()) return s;
  return play(script, reads, finished);
}

// Plants a bug in the log: the transactions are sound, but the log's report of them is not.
Status Simulation::plant_log_bug(const std::vector<Request>& reads) {
  const LogBug bug = options_.log_bug;
  Script script;
  script.text = bug == LogBug::dirty_write    ? "b1 w1x w1y c1 b2 w2x w2y c2"
                : bug == LogBug::lost_version ? "b1 w1x a1"
                                              : "b1 w1x c1 b2 r2x w2x c2";
  std::vector<TxnRecord> records;
  const auto finished = [&](TxnRecord& record) {
    record.status = TxnStatus::committed;
    records.push_back(record);
    return Status(Ok{});
  };
  if (Status s = play(script, reads, finished); !s.ok()) return s;
  switch (bug) {
    case LogBug::none:
    case LogBug::lost_version:
      break;
    case LogBug::other_order:
      log(records[1]);
      log(records[0]);
      break;
    case LogBug::dirty_write: {
      const Value x = records[0].steps[0].request.key, y = records[0].steps[1].request.key;
      for (const auto& [record, key] :
           {std::pair(0, x), std::pair(1, x), std::pair(1, y), std::pair(0, y)})
        log_.add(records[static_cast<size_t>(record)], &key);
      break;
    }
    case LogBug::wrong_times:
      std::swap(records[0].commit_ts, records[1].commit_ts);
      for (const TxnRecord& record : records) log(record);
      break;
  }
  for (TxnRecord& record : records)
    if (Status s = write_planted(record); !s.ok()) return s;
  return Ok{};
}

Status Simulation::play(const Script& script, const std::vector<Request>& reads,
                        const std::function<Status(TxnRecord&)>& finished) {
  ScriptRun run(script, engine_, clock_, planted_values_);
  run.set_reads(reads.front(), reads.back());
  Result<int64_t> end = run.run(now_, [&](TxnRecord& record) {
    record.number = clients_[record.session].record.number++;
    if (options_.timestamps && record.status == TxnStatus::committed)
      engine_.note_times(record.session, record);
    return finished(record);
  });
  if (!end.ok()) return end.error();
  now_ = *end;
  return Ok{};
}

Status Simulation::write_planted(TxnRecord& record) {
  stats_.operations += record.steps.size();
  stats_.committed += record.status == TxnStatus::committed;
  stats_.aborted += record.status == TxnStatus::aborted;
  return sink_.transaction(record);
}

}  // namespace assay::internal::collect
