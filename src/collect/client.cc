#include "collect/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "collect/sql/statement.h"
#include "collect/url.h"

namespace assay::internal::collect {
namespace {

constexpr double kFirstPause = 50e3;  // nanoseconds, on average
constexpr uint32_t kMostDoublings = 9;
constexpr size_t kMostMessages = 100;
constexpr size_t kMostOfMessage = 500;  // bytes that go into the history
constexpr int64_t kWait = 100'000'000;  // nanoseconds
constexpr uint32_t kMostRetries = 10;
constexpr int kReadTries = 100;
constexpr auto kConnectFor = std::chrono::milliseconds(3000);
constexpr auto kReconnectPause = std::chrono::milliseconds(50);

std::string_view word_for(OpKind kind) {
  constexpr std::string_view kWords[] = {"read",      "write", "remove", "append",
                                         "read list", "range", "cas",    "insert"};
  return kWords[static_cast<size_t>(kind)];
}

// The request in words, with as much detail as a person needs to find the statement again.
std::string in_words(const Request& request) {
  if (request.statement) return request.statement->in_words();
  return fmt::format("{} of key {}", word_for(request.kind), request.key.view().to_string());
}

// The message without passwords, which are never written down, whatever they come from.
std::string for_the_record(const std::string& message) {
  return redacted(message).substr(0, kMostOfMessage);
}

// Turns the request into a read, for a session at a read-only endpoint.
void make_read(Request& request) {
  request.kind = request.kind == OpKind::append ? OpKind::read_list : OpKind::read;
  request.value = {};
  request.expected = {};
}

}  // namespace

Client::Client(uint32_t session, Driver& driver, std::unique_ptr<WorkloadSession> workload,
               Sink& sink, const RunClock& clock, uint64_t seed,
               std::chrono::milliseconds reconnect_for)
    : session_(session),
      driver_(driver),
      workload_(std::move(workload)),
      sink_(sink),
      clock_(clock),
      reconnect_for_(reconnect_for),
      rng_(Rng(seed).split(session)) {
  record_.session = session_;
}

// A database that was just killed needs a while to come back, and a replica to get the tables, so a
// failure is not final at once.
Status Client::connect() {
  const auto deadline =
      std::chrono::steady_clock::now() + (record_.number > 0 ? reconnect_for_ : kConnectFor);
  while (true) {
    Result<std::unique_ptr<DriverSession>> connected = driver_.connect();
    if (connected.ok()) {
      connection_ = std::move(*connected);
      loss_.reset();
      return Ok{};
    }
    if (std::chrono::steady_clock::now() > deadline) return connected.error();
    std::this_thread::sleep_for(kReconnectPause);
  }
}

Status Client::note_connection() {
  const uint64_t backend = connection_->backend();
  if (backend == 0) return Ok{};
  const int64_t at = clock_.now();
  return sink_.event(at, fmt::format(R"({{"event":"connect","at":{},"session":{},"backend":{}}})",
                                     at, session_, backend));
}

Status Client::record(TxnStatus status, bool pending) {
  record_.status = status;
  record_.pending = pending;
  return sink_.transaction(record_);
}

void Client::note_failure(TxnStatus status, const std::string& message) {
  const auto what = std::pair(status, message);
  if (failures_.size() < kMostMessages || failures_.contains(what)) ++failures_[what];
}

void Client::note_time(int64_t since) {
  const int64_t spent = clock_.now() - since;
  if (spent > kWait) waited_ += spent;
}

std::string Client::place(bool committing) const {
  const std::string what = committing              ? "its COMMIT"
                           : last_request_.empty() ? "its beginning"
                                                   : last_request_;
  return fmt::format("session {}, transaction {}-{}, {}", session_, session_, record_.number, what);
}

// Makes a call in turn. The database acts at some moment between the request and the answer, and
// others go on before and after.
template <class Call>
CallResult Client::in_turn(Call call) {
  if (turns_ == nullptr) return call();
  turns_->pass(session_);
  CallResult result = call();
  turns_->pass(session_);
  return result;
}

// Executes begin and the operations. The begin time reaches from the request to begin until the
// answer to the first operation: some databases take the snapshot only then.
template <class Next>
CallResult Client::execute(Next& next) {
  if (log_ != nullptr) name_transaction();
  record_.begin.request = clock_.now();
  CallResult result = in_turn([&] { return connection_->begin(); });
  record_.begin.response = clock_.now();
  note_time(record_.begin.request);
  last_ = nullptr;
  statements_ = 0;
  Request request;
  while (result.ok() && next(last_, request)) {
    Request asked = std::exchange(request, {});
    const int64_t sent = clock_.now();
    const size_t first = record_.steps.size();
    ++statements_;
    result = asked.statement ? perform(asked) : call(asked);
    note_time(sent);
    if (times_operations_ && asked.statement && result.ok())
      record_.sql.push_back({asked.statement->sql(version()), sent, asked.statement->locks()});
    if (times_operations_)
      for (size_t i = first; i < record_.steps.size(); ++i)
        record_.steps[i].time = {sent, result.ok() ? clock_.now() : Interval::kOpen};
    if (!result.ok())
      last_request_ = fmt::format("operation {} ({})", statements_, in_words(asked));
    if (statements_ == 1) record_.begin.response = clock_.now();
  }
  return result;
}

CallResult Client::call(Request& request) {
  Step& step = record_.steps.emplace_back();
  step.request = std::move(request);
  CallResult result = in_turn([&] { return connection_->call(step.request, step.reply); });
  last_ = &step.reply;
  if (result.ok()) return result;
  request = step.request;
  // A read without an answer says nothing; a write without one may still have happened.
  if (!changes_data(request.kind)) record_.steps.pop_back();
  return result;
}

// The statement itself says what to record.
CallResult Client::perform(const Request& request) {
  reply_ = {};
  last_ = &reply_;
  return request.statement->perform(*connection_, version(), record_.steps, reply_);
}

std::string Client::version() const {
  return fmt::format("{}-{}.{}", session_, record_.number, statements_);
}

// Collects the requests of a transaction, none of which depends on a reply. False if one call does
// not suffice: the record of a conditional write includes whether it took effect, which is unknown
// while the transaction's outcome is.
template <class Next>
bool Client::take_whole(Next& next, std::vector<Request>& requests) {
  for (Request request; next(nullptr, request); request = {}) requests.push_back(request);
  return std::none_of(requests.begin(), requests.end(), [](const Request& r) {
    return r.kind == OpKind::cas || r.kind == OpKind::insert || r.statement != nullptr;
  });
}

// Executes a transaction from begin to commit in one call: it began and ended at some time between
// request and response.
CallResult Client::execute_whole(const std::vector<Request>& requests) {
  for (const Request& request : requests)
    if (changes_data(request.kind)) record_.steps.push_back({.request = request, .reply = {}});
  record_.begin = {clock_.now(), Interval::kOpen};
  if (!record_.steps.empty())
    if (Status s = record(TxnStatus::unknown, true); !s.ok())
      return CallResult::fatal(s.error().to_string());
  std::vector<Reply> replies;
  record_.begin.request = clock_.now();
  CallResult result = connection_->whole(requests, replies);
  record_.begin.response = clock_.now();
  note_time(record_.begin.request);
  if (!result.ok()) return result;
  record_.steps.clear();
  record_.sql.clear();
  for (size_t i = 0; i < requests.size(); ++i)
    record_.steps.push_back({.request = requests[i], .reply = std::move(replies[i])});
  return result;
}

void Client::name_transaction() {
  connection_->name_transaction(fmt::format("{}-{}", session_, record_.number));
}

CallResult Client::commit() {
  const bool writes = std::any_of(record_.steps.begin(), record_.steps.end(),
                                  [](const Step& s) { return changes_data(s.request.kind); });
  if (writes && log_ != nullptr) record_.xid = connection_->server_id();
  if (writes)
    if (Status s = record(TxnStatus::unknown, true); !s.ok())
      return CallResult::fatal(s.error().to_string());
  return in_turn([&] { return connection_->commit(); });
}

template <class Next>
Result<TxnStatus> Client::run(Next next, bool ignores_replies) {
  if (!connection_) {
    if (Status s = connect(); !s.ok()) return s.error();
    if (Status s = note_connection(); !s.ok()) return s.error();
  }
  record_.steps.clear();
  record_.sql.clear();
  record_.error.clear();
  record_.xid.clear();
  record_.end = {};
  record_.start_ts = record_.commit_ts = Interval::kUnknown;
  last_request_.clear();
  CallResult result;
  bool committing = false;
  int64_t request = 0;
  std::vector<Request> requests;
  const bool taken =
      ignores_replies && connection_->takes_whole() && !times_operations_ && log_ == nullptr;
  if (taken && take_whole(next, requests)) {
    result = execute_whole(requests);
    request = record_.begin.request;
    committing = true;
  } else {
    size_t at = 0;
    const auto next_taken = [&](const Reply*, Request& r) {
      if (at == requests.size()) return false;
      r = requests[at++];
      return true;
    };
    result = taken ? execute(next_taken) : execute(next);
    request = clock_.now();
    committing = result.ok();
    if (committing) result = commit();
  }
  record_.end = {request, clock_.now()};
  const OwnTimes own = connection_->own_times();
  record_.start_ts = own.start_ts;
  if (result.ok()) record_.commit_ts = own.commit_ts;
  if (committing) note_time(request);
  return finish_txn(result, committing);
}

// Records the outcome. `committing`: the transaction got as far as its commit.
Result<TxnStatus> Client::finish_txn(const CallResult& result, bool committing) {
  TxnStatus status = TxnStatus::committed;
  if (result.outcome == CallOutcome::aborted) status = TxnStatus::aborted;
  if (result.outcome == CallOutcome::unknown) status = TxnStatus::unknown;
  // After a fatal failure the connection is closed, which undoes the transaction unless it was
  // being committed.
  if (result.outcome == CallOutcome::fatal)
    status = committing ? TxnStatus::unknown : TxnStatus::aborted;
  if (status == TxnStatus::unknown) record_.end = {};
  if (!result.ok()) {
    record_.error = for_the_record(result.message);
    note_failure(status, record_.error);
  }
  if (result.session_lost && result.outcome != CallOutcome::fatal)
    loss_ = {clock_.now(), place(committing) + ": " + record_.error};
  if (status == TxnStatus::committed) operations_ += record_.steps.size();
  aborts_in_a_row_ = status == TxnStatus::aborted ? aborts_in_a_row_ + 1 : 0;
  if (Status s = record(status); !s.ok()) return s.error();
  if (log_ != nullptr) log_->ended(record_);
  ++record_.number;
  if (result.session_lost) connection_.reset();
  if (result.outcome == CallOutcome::fatal)
    return io_error(place(committing) + ": " + result.message);
  return status;
}

Result<TxnStatus> Client::attempt() {
  workload_->start(retry_);
  record_.ran = workload_->what();
  Result<TxnStatus> status = run(
      [this](const Reply* last, Request& request) {
        if (!workload_->next(last, request)) return false;
        if (connection_->read_only() && changes_data(request.kind)) make_read(request);
        return true;
      },
      workload_->ignores_replies());
  // Some transactions can never succeed (for example a write at a read-only endpoint).
  retry_ = status.ok() && *status == TxnStatus::aborted && aborts_in_a_row_ % kMostRetries != 0;
  return status;
}

Result<bool> Client::do_all(const std::vector<Request>& requests) {
  record_.ran.clear();
  for (int tries = 0; tries < kReadTries; ++tries) {
    size_t at = 0;
    const Result<TxnStatus> status = run(
        [&](const Reply*, Request& request) {
          if (at == requests.size()) return false;
          request = requests[at++];
          return true;
        },
        true);
    if (!status.ok()) return status.error();
    if (*status == TxnStatus::committed) return true;
    back_off();
  }
  return false;
}

void Client::back_off() {
  const double mean = kFirstPause * (1u << std::min(aborts_in_a_row_, kMostDoublings));
  const auto pause = static_cast<int64_t>(rng_.exponential(mean));
  if (turns_ != nullptr)
    turns_->back_off(session_, pause);
  else
    std::this_thread::sleep_for(std::chrono::nanoseconds(pause));
}

}  // namespace assay::internal::collect
