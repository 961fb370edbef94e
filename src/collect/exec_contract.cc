#include "collect/exec_contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/json.h"
#include "collect/drivers/exec_program.h"

namespace assay::internal::collect {
namespace contract {
namespace {

using std::chrono::milliseconds;

constexpr auto kGrace = milliseconds(1000);  // beyond the program's time-out
constexpr auto kStartTime = milliseconds(30'000);
constexpr int kTries = 20;  // attempts at a transaction without concurrent ones
constexpr size_t kShown = 300;
constexpr std::array<const char*, 8> kKinds = {"r",    "w",     "d",   "append",
                                               "list", "range", "cas", "insert"};

std::string shown(const Json& j) {
  if (j.is_discarded()) return "no answer, or one that is not a JSON object";
  return j.dump().substr(0, kShown);
}

// The required part of an answer to an operation, such as "value", and its expected value; no name:
// nothing is required.
struct Part {
  const char* name = nullptr;
  Json value = {};
};
struct Operation {
  Json op;
  Part answer = {};
};

// What an answer says about the transaction. `none`: there was no answer, or none of the
// protocol's.
enum class Word : uint8_t { ok, aborted, unknown, fatal, none };

Word word_of(const Json& answer) {
  if (answer.is_discarded()) return Word::none;
  if (answer.contains("aborted")) return Word::aborted;
  if (answer.contains("unknown")) return Word::unknown;
  if (answer.contains("fatal")) return Word::fatal;
  return answer.value("ok", Json()) == Json(true) ? Word::ok : Word::none;
}

// The first thing that was not as expected.
struct Complaint {
  std::string text;
  bool note(const std::string& asked, const std::string& expected, const std::string& came) {
    if (text.empty()) text = fmt::format("after {}: expected {}, got {}", asked, expected, came);
    return false;
  }
};

// A session that has said hello. Functions that return bool return false once something is not as
// expected; then the complaint says what.
class Session {
 public:
  Session(std::unique_ptr<ExecChannel> channel, milliseconds timeout, Complaint& complaint)
      : channel_(std::move(channel)), timeout_(timeout), complaint_(complaint) {}

  Json ask(const Json& request, milliseconds extra = kGrace) {
    send(request);
    return answer(extra);
  }
  void send(const Json& request) {
    asked_ = shown(request);
    sent_ = channel_->send(request);
  }
  Json answer(milliseconds extra = kGrace) {
    return sent_ ? channel_->receive(timeout_ + extra) : Json::discarded();
  }
  Json operate(const Json& op) { return ask({{"do", "op"}, {"op", op}}); }

  bool expect_ok(const Json& answer, const std::string& expected = R"({"ok":true})") {
    return word_of(answer) == Word::ok || unexpected(expected, answer);
  }
  bool expect(const Json& answer, const Part& part) {
    if (part.name == nullptr) return expect_ok(answer);
    const std::string expected = shown({{"ok", true}, {part.name, part.value}});
    if (!expect_ok(answer, expected)) return false;
    return (answer.contains(part.name) && answer[part.name] == part.value) ||
           unexpected(expected, answer);
  }
  bool unexpected(const std::string& expected, const Json& came) {
    return complaint_.note(asked_, expected, shown(came));
  }

  bool begin() { return expect_ok(ask({{"do", "begin"}})); }
  bool write(const Json& key, const Json& value) { return expect_ok(operate({"w", key, value})); }
  bool reads(const Json& key, const Json& value) {
    return expect(operate({"r", key}), {"value", value});
  }
  bool commit() { return expect_ok(ask({{"do", "commit"}})); }

  // Runs a transaction without concurrent ones: it may be aborted, but not again and again.
  bool alone(const std::vector<Operation>& operations) {
    Json last;
    for (int tries = 0; tries < kTries; ++tries) {
      last = attempt(operations);
      if (word_of(last) != Word::aborted) return word_of(last) == Word::ok;
    }
    return unexpected(fmt::format("a commit within {} tries: nothing else runs", kTries), last);
  }

  ExecChannel& channel() { return *channel_; }

 private:
  // Attempts the transaction, and returns the answer that ended it.
  Json attempt(const std::vector<Operation>& operations) {
    Json last = ask({{"do", "begin"}});
    for (size_t i = 0; i < operations.size() && word_of(last) == Word::ok; ++i) {
      last = operate(operations[i].op);
      if (word_of(last) == Word::ok && !expect(last, operations[i].answer))
        return Json::discarded();
    }
    if (word_of(last) == Word::ok) last = ask({{"do", "commit"}});
    if (word_of(last) != Word::aborted) expect_ok(last);
    return last;
  }

  std::unique_ptr<ExecChannel> channel_;
  milliseconds timeout_;
  Complaint& complaint_;
  std::string asked_;
  bool sent_ = false;
};

using SessionPointer = std::unique_ptr<Session>;

// Provides sessions and keys for one check after another.
class Bench {
 public:
  Bench(ExecProgram& program, const ContractOptions& options)
      : program_(program), options_(options) {}

  milliseconds timeout() const { return options_.timeout; }

  // Returns null if the program does not say hello; then the complaint says so.
  SessionPointer open() {
    auto channel = program_.connect();
    if (!channel.ok()) {
      complaint.note("a new session", "a connection", channel.error().to_string());
      return nullptr;
    }
    auto session = std::make_unique<Session>(std::move(*channel), options_.timeout, complaint);
    hello = session->ask({{"do", "hello"},
                          {"protocol", 1},
                          {"isolation", options_.isolation},
                          {"timeout_ms", options_.timeout.count()},
                          {"run", 1}},
                         kStartTime);
    return session->expect_ok(hello) ? std::move(session) : nullptr;
  }
  bool can(const std::string& kind) const {
    if (!hello.contains("kinds")) return kind == "r" || kind == "w";
    return hello["kinds"].is_array() &&
           std::find(hello["kinds"].begin(), hello["kinds"].end(), kind) != hello["kinds"].end();
  }
  Json key() { return next_key_++; }

  ExecProgram& program() { return program_; }
  Complaint complaint;
  Json hello;

 private:
  ExecProgram& program_;
  const ContractOptions& options_;
  int64_t next_key_ = 1000;
};

// How a transaction ended, in the words of its answers.
struct Ending {
  Word word = Word::none;
  Json value;  // the value that it wrote to the key
};

// Whether the key holds a value that agrees with how its writers ended: that of one that committed,
// or may have; or the old value, if none certainly committed.
bool explained(Bench& bench, const Json& key, const Json& before,
               const std::vector<Ending>& endings) {
  std::vector<Json> possible;
  bool overwritten = false;
  for (const Ending& e : endings) {
    if (e.word == Word::ok || e.word == Word::unknown) possible.push_back(e.value);
    overwritten = overwritten || e.word == Word::ok;
  }
  if (!overwritten) possible.push_back(before);
  const SessionPointer reader = bench.open();
  if (!reader) return false;
  for (int tries = 0; tries < kTries; ++tries) {
    if (word_of(reader->ask({{"do", "begin"}})) == Word::aborted) continue;
    const Json answer = reader->operate({"r", key});
    if (word_of(answer) == Word::aborted) continue;
    if (!reader->expect_ok(answer)) return false;
    const Json value = answer.value("value", Json());
    if (std::find(possible.begin(), possible.end(), value) == possible.end())
      return reader->unexpected("a value among " + shown(Json(possible)) +
                                    ", according to the answers to the transactions",
                                answer);
    return reader->commit();
  }
  return reader->unexpected(fmt::format("a read within {} tries", kTries), nullptr);
}

// Whether the answer is ok, aborted or unknown, which may be the result of an operation or a commit
// that runs concurrently with another transaction. `commit`: unknown is allowed.
bool is_an_ending(Session& s, const Json& answer, bool commit) {
  const Word word = word_of(answer);
  if (word == Word::ok || word == Word::aborted || (commit && word == Word::unknown)) return true;
  return s.unexpected(commit ? R"("ok", "aborted" or "unknown")" : R"("ok" or "aborted")", answer);
}

// Commits, unless the transaction is over already.
bool finish(Session& s, Ending& ending) {
  if (ending.word != Word::ok) return true;
  const Json answer = s.ask({{"do", "commit"}});
  ending.word = word_of(answer);
  return is_an_ending(s, answer, true);
}

// Sends a request of a transaction that runs concurrently with another one.
bool go_on(Session& s, Ending& ending, const Json& request) {
  if (ending.word != Word::ok) return true;
  const Json answer = s.ask(request);
  ending.word = word_of(answer);
  return is_an_ending(s, answer, false);
}

Json operation(const Json& op) { return {{"do", "op"}, {"op", op}}; }

bool names_kinds(Bench& bench) {
  const SessionPointer s = bench.open();
  if (!s) return false;
  const Json kinds = bench.hello.value("kinds", Json::array({"r", "w"}));
  for (const Json& kind : kinds)
    if (!kind.is_string() ||
        std::find(std::begin(kKinds), std::end(kKinds), kind.text()) == std::end(kKinds))
      return s->unexpected("kinds among " + shown(Json(kKinds)), kinds);
  for (const char* flag : {"read_only", "batch"})
    if (bench.hello.contains(flag) && !bench.hello[flag].is_boolean())
      return s->unexpected(fmt::format("\"{}\" true or false", flag), bench.hello);
  return kinds.is_array() || s->unexpected("\"kinds\" as an array", bench.hello);
}

bool prepares(Bench& bench) {
  const Json key = bench.key();
  for (const Json& value : {Json(1), Json()}) {
    SessionPointer s = bench.open();
    if (!s || !s->expect_ok(s->ask({{"do", "prepare"}}, kStartTime))) return false;
    if (!s->alone({{{"r", key}, {"value", nullptr}}})) return false;
    if (!value.is_null() && !s->alone({{{"w", key, value}}})) return false;
  }
  return true;
}

bool keeps_values(Bench& bench) {
  const SessionPointer s = bench.open();
  if (!s) return false;
  const Json key = bench.key(), other = std::to_string(key.integer());
  for (const Json& value :
       {Json(INT64_MIN), Json(17), Json("17"), Json("na\xc3\xafve \"quote\" 'x' \\ , ]}")})
    if (!s->alone({{{"w", key, value}}}) || !s->alone({{{"r", key}, {"value", value}}}))
      return false;
  return s->alone({{{"r", other}, {"value", nullptr}}}) && s->alone({{{"w", other, 1}}}) &&
         s->alone({{{"r", other}, {"value", 1}}, {{"r", bench.key()}, {"value", nullptr}}});
}

// Transactions in sequence, as JSON: the request of each operation, and the part of the answer that
// is examined. `@` precedes the name of a key.
Json transactions_of(std::string_view text, const std::map<char, Json>& keys) {
  std::string json;
  for (size_t i = 0; i < text.size(); ++i)
    json += text[i] == '@' ? keys.at(text[++i]).dump() : std::string(1, text[i]);
  return Json::parse(json);
}

bool each_alone(Session& s, const Json& transactions) {
  for (const Json& transaction : transactions) {
    std::vector<Operation> operations;
    for (const Json& o : transaction)
      operations.push_back({o["op"], o.size() < 2 ? Part{} : Part{o.name(1).c_str(), o[1]}});
    if (!s.alone(operations)) return false;
  }
  return true;
}

// Checks each kind except r and w, in transactions of their own and of several operations.
bool operates(Bench& bench) {
  const SessionPointer s = bench.open();
  if (!s) return false;
  std::map<char, Json> keys;
  for (const char name : {'k', 'l', 'c', 'i', '1', '2', '3'}) keys[name] = bench.key();
  const auto try_kinds = [&](std::initializer_list<const char*> kinds, std::string_view text) {
    for (const char* kind : kinds)
      if (!bench.can(kind)) return true;
    return each_alone(*s, transactions_of(text, keys));
  };
  return try_kinds({"d"}, R"([[{"op":["w",@k,1]}],
                              [{"op":["d",@k,2]},{"op":["r",@k],"value":null}],
                              [{"op":["r",@k],"value":null}]])") &&
         try_kinds({"append", "list"},
                   R"([[{"op":["append",@l,5]}],
                       [{"op":["append",@l,"a,b"]},{"op":["list",@l],"list":[5,"a,b"]}],
                       [{"op":["list",@l],"list":[5,"a,b"]}]])") &&
         try_kinds({"cas"}, R"([[{"op":["cas",@c,null,1],"effect":true}],
                                [{"op":["cas",@c,7,8],"effect":false}],
                                [{"op":["cas",@c,1,2],"effect":true},{"op":["r",@c],"value":2}],
                                [{"op":["cas",@c,null,3],"effect":false}],
                                [{"op":["r",@c],"value":2}]])") &&
         try_kinds({"insert"}, R"([[{"op":["insert",@i,1],"effect":true}],
                                   [{"op":["insert",@i,2],"effect":false}],
                                   [{"op":["r",@i],"value":1}]])") &&
         try_kinds({"range"},
                   R"([[{"op":["w",@3,3]},{"op":["w",@1,1]}],
                       [{"op":["w",@2,2]},{"op":["range",@1,@3],"rows":[[@1,1],[@2,2],[@3,3]]}],
                       [{"op":["range",@1,@2],"rows":[[@1,1],[@2,2]]}]])");
}

bool reads_its_own(Bench& bench) {
  const SessionPointer s = bench.open();
  const Json k = bench.key();
  return s && s->alone({{{"r", k}, {"value", nullptr}},
                        {{"w", k, 1}},
                        {{"r", k}, {"value", 1}},
                        {{"w", k, 2}},
                        {{"r", k}, {"value", 2}}});
}

bool shows_commits(Bench& bench) {
  const SessionPointer a = bench.open(), b = bench.open();
  const Json k = bench.key();
  return a && b && a->alone({{{"w", k, 1}}}) && b->alone({{{"r", k}, {"value", 1}}}) &&
         b->alone({{{"w", k, 2}}}) && a->alone({{{"r", k}, {"value", 2}}});
}

bool undoes(Bench& bench) {
  const SessionPointer a = bench.open(), b = bench.open();
  const Json k = bench.key();
  if (!a || !b || !a->begin() || !a->write(k, 1)) return false;
  const Json answer = a->ask({{"do", "abort"}});
  if (word_of(answer) != Word::aborted && !a->expect_ok(answer)) return false;
  return a->alone({{{"r", k}, {"value", nullptr}}}) && b->alone({{{"r", k}, {"value", nullptr}}});
}

bool serves_two(Bench& bench) {
  const SessionPointer a = bench.open(), b = bench.open();
  const Json k = bench.key(), l = bench.key();
  Ending first{Word::ok, 1}, second{Word::ok, 2};
  if (!a || !b || !a->begin() || !a->write(k, 1)) return false;
  return go_on(*b, second, {{"do", "begin"}}) && go_on(*b, second, operation({"w", l, 2})) &&
         finish(*b, second) && finish(*a, first) && explained(bench, k, nullptr, {first}) &&
         explained(bench, l, nullptr, {second});
}

bool answers_conflicts(Bench& bench) {
  const SessionPointer a = bench.open(), b = bench.open();
  const Json k = bench.key();
  Ending first{Word::ok, 1}, second{Word::ok, 2};
  if (!a || !b || !a->begin()) return false;
  const bool answered =
      go_on(*a, first, operation({"r", k})) && go_on(*b, second, {{"do", "begin"}}) &&
      go_on(*b, second, operation({"r", k})) && go_on(*a, first, operation({"w", k, 1})) &&
      go_on(*b, second, operation({"w", k, 2})) && finish(*a, first) && finish(*b, second);
  if (!answered || !explained(bench, k, nullptr, {first, second})) return false;
  const Json again = bench.key();
  return a->alone({{{"w", again, 3}}}) && b->alone({{{"w", again, 4}}});
}

// Checks a session while another one holds the key: it may read the old value, or wait and then
// answer that it is aborted; it must not read a write that may still be undone, nor wait for longer
// than the time-out.
bool waits_for_another(Bench& bench) {
  const SessionPointer a = bench.open(), b = bench.open();
  const Json k = bench.key();
  Ending second{Word::ok, 2};
  if (!a || !b || !a->begin() || !a->write(k, 1)) return false;
  if (!go_on(*b, second, {{"do", "begin"}})) return false;
  if (second.word == Word::ok) {
    const Json answer = b->operate({"r", k});
    second.word = word_of(answer);
    if (!is_an_ending(*b, answer, false)) return false;
    if (second.word == Word::ok && !answer.value("value", Json()).is_null())
      return b->unexpected("null or an abort, because the other session has not committed", answer);
  }
  if (!go_on(*b, second, operation({"w", k, 2})) || !finish(*b, second)) return false;
  const Json answer = a->ask({{"do", "abort"}});
  if (word_of(answer) != Word::aborted && !a->expect_ok(answer)) return false;
  return explained(bench, k, nullptr, {second});
}

// Checks the same if the other commits meanwhile.
bool goes_on_after_waiting(Bench& bench) {
  const SessionPointer a = bench.open(), b = bench.open();
  const Json k = bench.key();
  Ending first{Word::ok, 1}, second{Word::ok, 2};
  if (!a || !b || !a->begin() || !a->write(k, 1)) return false;
  b->send({{"do", "begin"}});
  if (!finish(*a, first)) return false;
  const Json begun = b->answer();
  second.word = word_of(begun);
  return is_an_ending(*b, begun, false) && go_on(*b, second, operation({"w", k, 2})) &&
         finish(*b, second) && explained(bench, k, nullptr, {first, second});
}

bool waits(Bench& bench) { return waits_for_another(bench) && goes_on_after_waiting(bench); }

bool refuses_what_it_does_not_know(Bench& bench) {
  const auto refused = [](Session& s, const Json& answer) {
    return word_of(answer) == Word::fatal || (answer.is_discarded() && s.channel().ended(kGrace)) ||
           s.unexpected(R"("fatal", or that it ends)", answer);
  };
  const SessionPointer a = bench.open(), b = bench.open();
  return a && b && refused(*a, a->ask({{"do", "assay-unknown"}})) && b->begin() &&
         refused(*b, b->operate({"assay-unknown", bench.key()}));
}

bool survives_kill(Bench& bench) {
  const SessionPointer a = bench.open();
  const Json k = bench.key();
  if (!a || !a->begin() || !a->write(k, 1)) return false;
  bench.program().kill(a->channel());
  const SessionPointer b = bench.open();
  return b && b->alone({{{"r", k}, {"value", nullptr}}}) && b->alone({{{"w", k, 2}}}) &&
         b->alone({{{"r", k}, {"value", 2}}});
}

bool ends(Bench& bench) {
  const SessionPointer a = bench.open();
  const Json k = bench.key();
  if (!a || !a->begin() || !a->write(k, 1)) return false;
  a->channel().end_input();
  if (!a->channel().ended(bench.timeout() + kGrace))
    return bench.complaint.note("the end of its input",
                                "that it ends within the time-out and a second", "that it goes on");
  const SessionPointer b = bench.open();
  return b && b->alone({{{"r", k}, {"value", nullptr}}});
}

// Checks a whole transaction in one line, alone and concurrently with another one.
bool takes_batches(Bench& bench) {
  const SessionPointer a = bench.open(), b = bench.open();
  const Json k = bench.key(), l = bench.key();
  if (!a || !b) return false;
  const Json alone = b->ask({{"do", "batch"}, {"ops", {{"w", k, 1}, {"r", k}, {"r", l}}}});
  if (!b->expect_ok(alone)) return false;
  const Json answers = alone.value("answers", Json());
  if (!answers.is_array() || answers.size() != 3 || answers[1].value("value", Json()) != Json(1) ||
      !answers[2].value("value", Json()).is_null())
    return b->unexpected(R"("answers" with a value of 1 and then null)", alone);
  if (!a->alone({{{"r", k}, {"value", 1}}})) return false;
  Ending first{Word::ok, 2}, second{Word::ok, 3};
  if (!a->begin() || !a->write(k, 2)) return false;
  const Json beside = b->ask({{"do", "batch"}, {"ops", {{"r", k}, {"w", k, 3}}}});
  second.word = word_of(beside);
  return is_an_ending(*b, beside, true) && finish(*a, first) &&
         explained(bench, k, 1, {first, second});
}

struct Check {
  ContractCheck about;
  bool (*keeps)(Bench&);
  // Returns why the check cannot be made; empty if it can.
  std::string (*not_tried)(Bench&) = [](Bench&) { return std::string(); };
};

std::string needs_reads_and_writes(Bench& bench) {
  return bench.can("r") && bench.can("w") ? "" : "it does not name both r and w";
}
std::string needs_more_kinds(Bench& bench) {
  for (const char* kind : kKinds)
    if (bench.can(kind) && kind != kKinds[0] && kind != kKinds[1])
      return needs_reads_and_writes(bench);
  return "it names no kinds except r and w";
}
std::string needs_a_process(Bench& bench) {
  if (!bench.program().can_be_killed()) return "its process was not started by this program";
  return needs_reads_and_writes(bench);
}
std::string needs_batches(Bench& bench) {
  if (bench.hello.value("batch", Json()) != Json(true)) return "hello does not name it";
  return needs_reads_and_writes(bench);
}

constexpr Check kChecks[] = {
    {{"hello", "hello names only known kinds of operations"}, names_kinds},
    {{"prepare", "prepare leaves the tables empty"}, prepares, needs_reads_and_writes},
    {{"values", "keys and values come back unchanged"}, keeps_values, needs_reads_and_writes},
    {{"operations", "each kind of operation that hello names works"}, operates, needs_more_kinds},
    {{"own-reads", "a transaction reads its own writes"}, reads_its_own, needs_reads_and_writes},
    {{"commit", "other sessions see committed writes"}, shows_commits, needs_reads_and_writes},
    {{"abort", "an aborted transaction leaves nothing"}, undoes, needs_reads_and_writes},
    {{"two-sessions", "two concurrent transactions end as requested"},
     serves_two,
     needs_reads_and_writes},
    {{"conflict", "a conflict is aborted or unknown, and the session goes on"},
     answers_conflicts,
     needs_reads_and_writes},
    {{"wait", "a session that waits for another is answered correctly and in time"},
     waits,
     needs_reads_and_writes},
    {{"batch", "a whole transaction on one line"}, takes_batches, needs_batches},
    {{"unknown-request", "an unknown request is fatal"},
     refuses_what_it_does_not_know,
     needs_reads_and_writes},
    {{"kill", "a process that is killed leaves nothing, and a new one starts"},
     survives_kill,
     needs_a_process},
    {{"end-of-input", "it ends with its input, and undoes open transactions"},
     ends,
     needs_reads_and_writes},
};

}  // namespace
}  // namespace contract

std::span<const ContractCheck> contract_checks() {
  static const std::vector<ContractCheck> checks = [] {
    std::vector<ContractCheck> all;
    for (const contract::Check& check : contract::kChecks) all.push_back(check.about);
    return all;
  }();
  return checks;
}

Status check_exec_contract(const ContractOptions& options,
                           const std::function<bool(const ContractResult&)>& tell) {
  auto program = ExecProgram::of(options.url);
  if (!program.ok()) return program.error();
  contract::Bench bench(**program, options);
  if (!bench.open())
    return bad_input(
        fmt::format("'{}' does not answer hello: {}", (*program)->name(), bench.complaint.text));
  for (const contract::Check& check : contract::kChecks) {
    ContractResult result{check.about.name, Kept::yes, {}};
    bench.complaint = {};
    if (std::string why = check.not_tried(bench); !why.empty())
      result = {check.about.name, Kept::skipped, std::move(why)};
    else if (!check.keeps(bench))
      result = {check.about.name, Kept::no, bench.complaint.text};
    if (!tell(result)) break;
  }
  return Ok{};
}

}  // namespace assay::internal::collect
