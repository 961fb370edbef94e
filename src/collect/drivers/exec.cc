// Any program as a database: a JSON object per line, and one line of answer. The protocol is
// docs/formats/exec-protocol.md.
//
// A program that does not answer in time is killed, or its connection closed. If COMMIT was not
// sent yet, that is an abort (it undoes what the session had open); otherwise the outcome is
// unknown.
#include <fmt/format.h>

#include <set>

#include "base/json.h"
#include "collect/drivers/exec_program.h"
#include "collect/drivers/registry.h"
#include "collect/run_id.h"

namespace assay::internal::collect {
namespace {

constexpr const char* kExecRunKey = "assay-run";
constexpr auto kExecGrace = std::chrono::milliseconds(1000);
constexpr auto kStartTime = std::chrono::milliseconds(30'000);

struct KindName {
  OpKind kind;
  const char* name;
};
constexpr KindName kKindNames[] = {
    {OpKind::read, "r"},         {OpKind::write, "w"},       {OpKind::remove, "d"},
    {OpKind::append, "append"},  {OpKind::range, "range"},   {OpKind::cas, "cas"},
    {OpKind::read_list, "list"}, {OpKind::insert, "insert"},
};

const char* name_of(OpKind kind) {
  for (const KindName& k : kKindNames)
    if (k.kind == kind) return k.name;
  return "";
}

Json to_json(const Value& v) {
  if (v.is_null()) return nullptr;
  if (v.is_integer()) return v.integer;
  return v.text;
}

bool from_json(const Json& j, Value& v) {
  if (j.is_null())
    v = Value();
  else if (j.is_integer())
    v = Value::of(j.integer());
  else if (j.is_string())
    v = Value::of(j.text());
  else
    return false;
  return true;
}

Json to_json(const Request& r) {
  Json op = {name_of(r.kind), to_json(r.key)};
  if (r.kind == OpKind::cas) op.push_back(to_json(r.expected));
  if (r.kind == OpKind::range)
    op.push_back(to_json(r.high));
  else if (r.kind != OpKind::read && r.kind != OpKind::read_list)
    op.push_back(to_json(r.value));
  return op;
}

// What an answer says about the transaction. `commit`: it is the answer to COMMIT.
CallResult outcome_of(const Json& answer, bool commit) {
  const auto text = [&](const char* name) {
    return answer[name].is_string() ? answer[name].text() : answer[name].dump();
  };
  if (answer.is_discarded()) {
    const char* why = "the program sent no answer, or one that is not a JSON object";
    return commit ? CallResult::unknown(why) : CallResult::aborted(why, true);
  }
  const bool lost = answer.value("lost", Json(false)) == Json(true);
  if (answer.contains("aborted")) return CallResult::aborted(text("aborted"), lost);
  if (answer.contains("unknown")) return CallResult::unknown(text("unknown"), lost);
  if (answer.contains("fatal")) return CallResult::fatal("exec: " + text("fatal"));
  if (answer.value("ok", Json(false)) == Json(true)) return {};
  return CallResult::fatal("exec: an answer without ok, aborted, unknown or fatal");
}

bool take(const Request& request, const Json& answer, Reply& reply) {
  const auto part = [&](const char* name) { return answer.value(name, Json()); };
  switch (request.kind) {
    case OpKind::read:
      return from_json(part("value"), reply.value);
    case OpKind::read_list: {
      const Json list = part("list");
      reply.list.assign(list.size(), {});
      for (size_t i = 0; i < list.size(); ++i)
        if (!from_json(list[i], reply.list[i])) return false;
      return list.is_array() || list.is_null();
    }
    case OpKind::range: {
      const Json rows = part("rows");
      reply.rows.assign(rows.size(), {});
      for (size_t i = 0; i < rows.size(); ++i)
        if (!rows[i].is_array() || rows[i].size() != 2 ||
            !from_json(rows[i][0], reply.rows[i].first) ||
            !from_json(rows[i][1], reply.rows[i].second))
          return false;
      return rows.is_array();
    }
    case OpKind::cas:
    case OpKind::insert: {
      const Json effect = part("effect");
      reply.effect = effect == Json(true);
      return effect.is_boolean();
    }
    case OpKind::remove:
      reply.effect = part("effect") != Json(false);
      return true;
    default:
      return true;
  }
}

class ExecSession : public DriverSession {
 public:
  ExecSession(std::unique_ptr<ExecChannel> channel, std::chrono::milliseconds timeout)
      : channel_(std::move(channel)), timeout_(timeout) {}

  CallResult begin() override {
    own_ = {};
    return ask({{"do", "begin"}}).first;
  }
  CallResult call(const Request& request, Reply& reply) override {
    auto [result, answer] = ask({{"do", "op"}, {"op", to_json(request)}});
    if (result.ok() && !take(request, answer, reply))
      return CallResult::fatal("exec: a bad answer to an operation: " + answer.dump());
    leave_out_mark(reply);
    return result;
  }
  CallResult commit() override { return ask({{"do", "commit"}}, true).first; }
  CallResult abort() override {
    CallResult result = ask({{"do", "abort"}}).first;
    if (result.outcome == CallOutcome::fatal) return result;
    return CallResult::aborted("rolled back by the client", result.session_lost);
  }
  bool takes_whole() const override { return batch_; }
  CallResult whole(std::span<const Request> requests, std::vector<Reply>& replies) override {
    own_ = {};
    Json ops = Json::array();
    for (const Request& request : requests) ops.push_back(to_json(request));
    // The time-out is for one operation.
    const auto [result, answer] = ask({{"do", "batch"}, {"ops", std::move(ops)}}, true,
                                      timeout_ * requests.size() + kExecGrace);
    if (!result.ok()) return result;
    const Json answers = answer.value("answers", Json());
    bool fits = answers.is_array() && answers.size() == requests.size();
    replies.assign(requests.size(), {});
    for (size_t i = 0; fits && i < requests.size(); ++i)
      fits = answers[i].is_object() && take(requests[i], answers[i], replies[i]);
    if (!fits) return CallResult::fatal("exec: a bad answer to a batch: " + answer.dump());
    for (Reply& reply : replies) leave_out_mark(reply);
    return result;
  }
  bool read_only() const override { return read_only_; }
  OwnTimes own_times() const override { return own_; }

  std::pair<CallResult, Json> ask(const Json& message, bool commit = false,
                                  std::chrono::milliseconds extra = kExecGrace) {
    Json answer = Json::discarded();
    if (channel_->send(message)) answer = channel_->receive(timeout_ + extra);
    CallResult result = outcome_of(answer, commit);
    if (result.ok() && !(take_time(answer, "start_ts", own_.start_ts) &&
                         take_time(answer, "commit_ts", own_.commit_ts)))
      result = CallResult::fatal("exec: a time that is not a 64-bit integer: " + answer.dump());
    return {std::move(result), std::move(answer)};
  }
  void set_read_only(bool read_only) { read_only_ = read_only; }
  void set_batch(bool batch) { batch_ = batch; }

 private:
  // Removes our own mark, which the workload did not write.
  static void leave_out_mark(Reply& reply) {
    std::erase_if(reply.rows, [](const auto& row) { return row.first.text == kExecRunKey; });
  }
  // Returns false if the time is given but invalid.
  static bool take_time(const Json& answer, const char* name, int64_t& time) {
    const Json* it = answer.find(name);
    if (it == nullptr) return true;
    const bool fits = it->is_int64() && it->integer() != Interval::kUnknown;
    if (fits) time = it->integer();
    return fits;
  }

  std::unique_ptr<ExecChannel> channel_;
  std::chrono::milliseconds timeout_;
  OwnTimes own_;  // times of the transaction that began last
  bool read_only_ = false;
  bool batch_ = false;
};

class ExecDriver : public Driver {
 public:
  ExecDriver(const DriverOptions& options, std::unique_ptr<ExecProgram> program)
      : options_(options), program_(std::move(program)) {}

  // Asks the program for its capabilities.
  Status greet() {
    auto session = open();
    return session.ok() ? Status(Ok{}) : Status(session.error());
  }

  bool supports(OpKind kind) const override { return kinds_.contains(name_of(kind)); }

  Status prepare() override {
    auto session = open();
    if (!session.ok()) return session.error();
    const CallResult result = (*session)->ask({{"do", "prepare"}}, false, kStartTime).first;
    if (!result.ok()) return io_error("exec: prepare: " + result.message);
    mark_ = begin_mark(options_.run);
    if (can_be_marked()) static_cast<void>(in_a_transaction(**session, run_mark(OpKind::write)));
    return Ok{};
  }

  Status mark_finished() override {
    if (!can_be_marked()) return Ok{};
    auto session = open();
    if (!session.ok()) return session.error();
    mark_.finished = true;
    static_cast<void>(in_a_transaction(**session, run_mark(OpKind::write)));
    return Ok{};
  }

  // As the programs know nothing about it, the mark is the value of a key of ours. A program that
  // cannot store it says nothing, and before a program has prepared its database it need not
  // answer.
  Result<RunMark> prepared_by() override {
    if (!can_be_marked() || mark_.run == 0) return RunMark{};
    auto session = open();
    if (!session.ok()) return session.error();
    const Value run = in_a_transaction(**session, run_mark(OpKind::read)).value;
    return run.is_null() ? RunMark{} : parse_mark(run.text);
  }

  Result<std::unique_ptr<DriverSession>> connect() override {
    auto session = open();
    if (!session.ok()) return session.error();
    return std::unique_ptr<DriverSession>(std::move(*session));
  }

  std::string describe() const override {
    // "name" comes first, as in every driver.
    const std::string rest = Json{{"isolation", options_.isolation}, {"version", version_}}.dump();
    return "{\"name\":" + Json(name_).dump() + "," + rest.substr(1);
  }

 private:
  bool can_be_marked() const {
    return options_.run != 0 && supports(OpKind::read) && supports(OpKind::write);
  }
  Request run_mark(OpKind kind) const {
    Request request{.kind = kind, .key = Value::of(kExecRunKey)};
    if (kind == OpKind::write) request.value = Value::of(mark_text(mark_));
    return request;
  }
  static Reply in_a_transaction(DriverSession& session, const Request& request) {
    Reply reply;
    if (!session.begin().ok() || !session.call(request, reply).ok() || !session.commit().ok())
      return {};
    return reply;
  }

  // Opens a session that has said hello.
  Result<std::unique_ptr<ExecSession>> open() {
    auto channel = program_->connect();
    if (!channel.ok()) return channel.error();
    auto session = std::make_unique<ExecSession>(std::move(*channel), options_.timeout);
    Json hello = {{"do", "hello"},
                  {"protocol", 1},
                  {"isolation", options_.isolation},
                  {"timeout_ms", options_.timeout.count()},
                  {"run", options_.run}};
    const auto [result, answer] = session->ask(hello, false, kStartTime);
    if (!result.ok())
      return io_error(
          fmt::format("exec: '{}' does not answer hello: {}", program_->name(), result.message));
    session->set_read_only(answer.value("read_only", Json(false)) == Json(true));
    session->set_batch(answer.value("batch", Json(false)) == Json(true));
    if (!kinds_.empty()) return session;  // known since the first time
    name_ = answer.value("name", Json("exec")).is_string() ? answer.text("name", "exec") : "exec";
    version_ = answer.value("version", Json());
    for (const Json& kind : answer.value("kinds", Json::array({"r", "w"})))
      if (kind.is_string()) kinds_.insert(kind.text());
    return session;
  }

  DriverOptions options_;
  RunMark mark_;  // of no run until the database is prepared
  std::unique_ptr<ExecProgram> program_;
  std::string name_;
  Json version_;
  std::set<std::string> kinds_;
};

Result<std::unique_ptr<Driver>> open_exec(const DriverOptions& options) {
  auto program = ExecProgram::of(options.url);
  if (!program.ok()) return program.error();
  auto driver = std::make_unique<ExecDriver>(options, std::move(*program));
  if (Status s = driver->greet(); !s.ok()) return s.error();
  return std::unique_ptr<Driver>(std::move(driver));
}

}  // namespace

const DriverInfo kExec = {"exec",
                          "any program that speaks JSON lines (docs/databases/exec.md)",
                          "exec:COMMAND or exec+unix:PATH",
                          {},
                          open_exec,
                          "exec+unix"};

}  // namespace assay::internal::collect
